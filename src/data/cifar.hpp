/// Private to src/data/: the binary versions of CIFAR-10 and CIFAR-100: records of one or two
/// labels and 3072 pixels, in planes of red, green and blue.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "own_file.hpp"

namespace wasp {

struct CifarFormat {
    std::string_view name;
    std::size_t labels;  ///< bytes in front of the pixels; the last of them counts
    int limits[2];       ///< each is below its limit
    int classes;
    std::size_t record() const { return labels + 3072; }
};

inline constexpr CifarFormat cifar10{"CIFAR-10", 1, {10, 0}, 10};
inline constexpr CifarFormat cifar100{"CIFAR-100", 2, {20, 100}, 100};  // coarse, fine

/// Appends the records of a file.   Error: missing, not a whole number of records, a label out of
/// range.
void read_cifar(const std::filesystem::path& path, const CifarFormat& format, HeldSplit& into);

}  // namespace wasp
