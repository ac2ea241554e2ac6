# Xeon Scalable, fourth generation (Sapphire Rapids) and later: AVX-512; AMX, which bf16 takes, is oneDNN's.
include make/generic.mk
ARCH_FLAGS := -march=sapphirerapids
SIMD       := avx512
