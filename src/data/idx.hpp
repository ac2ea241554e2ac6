/// Private to src/data/: IDX, the format of MNIST. Big-endian: two zero bytes, type (8: unsigned
/// byte), number of dimensions, their sizes (32 bits each), values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "tensor/image_batch.hpp"

namespace wasp {

struct Idx {
    std::vector<std::size_t> sides;  ///< (N,H,W) of images, (N) of labels
    std::vector<std::byte> values;
};

/// Whether a file that starts so, unpacked, is an IDX file of any type.
bool looks_like_idx(std::array<std::byte, 4> start);

/// Error: not IDX of bytes with one or three dimensions, declares more than it holds, or the other
/// way round, damaged.
Idx read_idx(const std::filesystem::path& path);

/// Error: as read_idx(), or of the other kind.
Idx read_idx_images(const std::filesystem::path& path);
std::vector<std::uint16_t> read_idx_labels(const std::filesystem::path& path);

}  // namespace wasp
