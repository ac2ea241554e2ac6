# Xeon E5 v3 and v4 (Haswell, Broadwell), and AMD's Zen: AVX2 with FMA, so the other kernels are not built.
include make/generic.mk
ARCH_FLAGS := -march=haswell
SIMD       := avx2
