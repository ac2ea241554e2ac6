# Xeon E5 v2 (Ivy Bridge; Tianhe-2): AVX, but neither AVX2 nor FMA, so the other kernels are not built.
include make/generic.mk
ARCH_FLAGS := -march=ivybridge
SIMD       := avx
