/// Floats on their way to another node, in fewer bytes where that loses nothing: as 16-bit numbers
/// where all of them are such, or without their zeros, where these are many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace wasp {

enum class Packing : std::uint8_t { none, bf16, fp16, sparse };

struct Packed {
    Packing packing = Packing::none;
    std::size_t words = 0;  ///< of 32 bits
};

/// At most 65,536 floats into `words`, as many as there are floats.
Packed pack(std::span<const float> floats, std::span<std::uint32_t> words);

/// The same bits again.   words: as many as pack() said.
void unpack(Packing packing, std::span<const std::uint32_t> words, std::span<float> floats);

}  // namespace wasp
