# Xeon Scalable, first and second generation (Skylake, Cascade Lake): AVX-512.
include make/generic.mk
ARCH_FLAGS := -march=skylake-avx512
SIMD       := avx512
