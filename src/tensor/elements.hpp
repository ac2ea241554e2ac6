/// Private to the kernels: activations of either precision, as vectors of floats.
#pragma once

#include "lanes.hpp"

namespace wasp::SIMD {

/// The upper half of a float.
struct Bf16 {
    std::uint16_t bits;
};

using Halves = std::uint16_t __attribute__((vector_size(2 * WASP_LANES), may_alias, aligned(2)));
using Words = std::uint32_t __attribute__((vector_size(4 * WASP_LANES), may_alias));

// The last argument of load() only says what is wanted: a vector, or one element.
inline Vector load(const float* p, Vector /*kind*/) {
    return *reinterpret_cast<const UnalignedVector*>(p);
}
inline float load(const float* p, float /*kind*/) {
    return *p;
}
inline void store(Vector v, float* p) {
    *reinterpret_cast<UnalignedVector*>(p) = v;
}
inline void store(float v, float* p) {
    *p = v;
}

inline Vector load(const Bf16* p, Vector /*kind*/) {
    const Words words = __builtin_convertvector(*reinterpret_cast<const Halves*>(p), Words) << 16;
    return reinterpret_cast<const Vector&>(words);
}
inline float load(const Bf16* p, float /*kind*/) {
    const std::uint32_t word = std::uint32_t{p->bits} << 16;
    return __builtin_bit_cast(float, word);
}
// Rounded to nearest, ties to even.
inline void store(Vector v, Bf16* p) {
    const Words words = reinterpret_cast<const Words&>(v);
    const Words rounded = (words + 0x7FFFU + ((words >> 16) & 1U)) >> 16;
    *reinterpret_cast<Halves*>(p) = __builtin_convertvector(rounded, Halves);
}
inline void store(float v, Bf16* p) {
    const auto word = __builtin_bit_cast(std::uint32_t, v);
    p->bits = static_cast<std::uint16_t>((word + 0x7FFFU + ((word >> 16) & 1U)) >> 16);
}

}  // namespace wasp::SIMD
