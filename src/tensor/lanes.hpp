/// Private to the kernels, src/tensor/*.simd.cpp: vectors, and the small machinery they share.
///
/// Everything that these files compile stands in the namespace of its instruction set (SIMD is
/// avx, avx2 or avx512) and nothing of the standard library with code in it is included: an inline
/// function that one of them compiled for AVX-512 could otherwise replace the one that the rest of
/// the program calls on an older machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/kernels.hpp"

#ifdef __AVX512F__
#define WASP_LANES 16
#else
#define WASP_LANES 8
#endif

/// Out of line, g++ 12 keeps the accumulators of a block in registers; inlined it spills them.
#define NOINLINE __attribute__((noinline))

namespace wasp::SIMD {

constexpr int lanes = WASP_LANES;
constexpr int registers = 2 * lanes;  // 32 with AVX-512, else 16

using Vector = float __attribute__((vector_size(sizeof(float) * WASP_LANES), may_alias));

/// The same, anywhere in memory: weights and gradients lie as they come.
using UnalignedVector =
    float __attribute__((vector_size(sizeof(float) * WASP_LANES), may_alias, aligned(4)));

inline Vector* vectors(float* p) {
    return reinterpret_cast<Vector*>(p);
}
inline const Vector* vectors(const float* p) {
    return reinterpret_cast<const Vector*>(p);
}

inline int smaller(int a, int b) {
    return a < b ? a : b;
}
inline int larger(int a, int b) {
    return a > b ? a : b;
}

template <int N>
struct Constant {
    static constexpr int value = N;
};

/// body(Constant<n>()) for a run-time n in [1, Largest]: how a size becomes a template argument.
template <int Largest, class Body>
inline void with_constant(int n, const Body& body) {
    if constexpr (Largest > 0) {
        if (n == Largest)
            body(Constant<Largest>());
        else
            with_constant<Largest - 1>(n, body);
    }
}

/// body(begin, Constant<size>()) for blocks that cover [0, count). Their sizes differ by at most
/// one, as a small last block would waste most of the registers.
template <int Largest, class Body>
inline void for_each_block(int count, const Body& body) {
    const int blocks = (count + Largest - 1) / Largest;
    for (int i = 0; i < blocks; ++i) {
        const int begin = count * i / blocks, end = count * (i + 1) / blocks;
        with_constant<Largest>(end - begin, [&](auto size) { body(begin, size); });
    }
}

}  // namespace wasp::SIMD
