/// Private to src/data/: writing our own layout of data files (docs/DATA.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace wasp {

inline constexpr std::int64_t own_format_version = 1;
inline constexpr int largest_class_count = 65'536;  ///< labels are uint16

/// A split that owns its images.
struct HeldSplit {
    std::vector<std::byte> images;      ///< N × (C,H,W) uint8
    std::vector<std::uint16_t> labels;  ///< (N)
};

/// Before hours of work.   Error: `out` exists, or its folder can't be written to.
void check_target(const std::filesystem::path& out);

/// Error: as check_target(), or the disk is full.
void write_own_file(const std::filesystem::path& out, const Dataset& dataset);

/// The same for uint8 images, whose mean and deviation are computed. The name is that of `out`.
/// Returns the line that the importers return.
std::string write_own_file(const std::filesystem::path& out, ImageShape shape, int classes,
                           const HeldSplit& train, const HeldSplit& test);

}  // namespace wasp
