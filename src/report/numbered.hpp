/// Names that are free.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace wasp {

constexpr int most_numbers = 10000;

/// Create the file, or where its name is taken NAME-2, NAME-3, … up to `most`; returns which.
/// Empty: all are taken.   Error: as h5::create_file().
std::filesystem::path create_numbered(const std::filesystem::path& path,
                                      std::span<const std::byte> bytes, int most);

}  // namespace wasp
