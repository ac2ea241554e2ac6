# The processor that this is compiled on, whichever it is. The kernels are chosen at run time, as in the default.
include make/generic.mk
ARCH_FLAGS := -march=native
