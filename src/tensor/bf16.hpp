/// Private to tensor: elements of activations of either precision, one at a time.
#pragma once

#include <bit>
#include <cstdint>

namespace wasp {

/// The upper half of a float.
struct Bf16 {
    std::uint16_t bits;
};

inline float to_float(float value) {
    return value;
}
inline float to_float(Bf16 value) {
    return std::bit_cast<float>(std::uint32_t{value.bits} << 16U);
}
inline void assign(float value, float& to) {
    to = value;
}
inline void assign(float value, Bf16& to) {  // to nearest, ties to even
    const auto word = std::bit_cast<std::uint32_t>(value);
    to.bits = static_cast<std::uint16_t>((word + 0x7FFFU + ((word >> 16U) & 1U)) >> 16U);
}

}  // namespace wasp
