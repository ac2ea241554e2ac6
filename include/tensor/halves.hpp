/// Floats that half the bits can hold: fp16 (IEEE 754 binary16) and bf16 (the upper half of a
/// float). Plain arithmetic on their bits, which compilers turn into vector code.
#pragma once

#include <bit>
#include <cstdint>

namespace wasp {

/// Without the sign: ordered as the absolute values are.
inline std::uint32_t size_bits(float x) {
    return std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFU;
}

/// To nearest, ties to even. NaN stays NaN.
inline float round_to_bf16(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) & 0xFFFF0000U;
    return std::bit_cast<float>(size_bits(x) > 0x7F800000U ? bits : rounded);
}

// In fp16 numbers from 2^-14 on are normal, with 10 bits of the fraction; smaller ones are
// multiples of 2^-24, as is what is left of a float that ½ was added to.
inline constexpr std::uint32_t least_normal_fp16 = 0x38800000;

/// To nearest, ties to even; at most ±65504. NaN stays NaN.
inline float round_to_fp16(float x) {
    constexpr std::uint32_t largest = 0x477FE000, infinity = 0x7F800000;
    const std::uint32_t size = size_bits(x);
    const std::uint32_t normal = (size + 0xFFFU + ((size >> 13U) & 1U)) & ~0x1FFFU;
    const auto small = std::bit_cast<std::uint32_t>((std::bit_cast<float>(size) + 0.5F) - 0.5F);
    std::uint32_t rounded = size < least_normal_fp16 ? small : normal;
    rounded = rounded > largest ? largest : rounded;
    rounded = size > infinity ? size : rounded;
    return std::bit_cast<float>(rounded | (std::bit_cast<std::uint32_t>(x) & 0x80000000U));
}

/// The 16 bits of a float that round_to_fp16() gave.
inline std::uint16_t fp16_bits(float x) {
    const std::uint32_t size = size_bits(x);
    const std::uint32_t normal = (size >> 13U) - (112U << 10U);
    const std::uint32_t small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5F) -
                                std::bit_cast<std::uint32_t>(0.5F);
    const std::uint32_t sign = (std::bit_cast<std::uint32_t>(x) >> 16U) & 0x8000U;
    return static_cast<std::uint16_t>((size < least_normal_fp16 ? small : normal) | sign);
}

inline float from_fp16(std::uint16_t half) {
    const std::uint32_t size = half & 0x7FFFU;
    const auto small = std::bit_cast<std::uint32_t>(static_cast<float>(size) * 0x1p-24F);
    const std::uint32_t normal = (size << 13U) + (112U << 23U);
    const std::uint32_t sign = (half & 0x8000U) << 16U;
    return std::bit_cast<float>((size < (1U << 10U) ? small : normal) | sign);
}

}  // namespace wasp
