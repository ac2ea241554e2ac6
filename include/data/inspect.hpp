/// Looking at data files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace wasp {

/// Shape, classes, counts per class, mean and deviation, layout, and a picture of a few images in
/// terminal blocks; several lines.   Error: as load_dataset().
/// png: also writes a picture of some images of each class there.   Error: it exists, or can't be
/// written.
std::string dataset_info(const std::filesystem::path& path,
                         const std::optional<std::filesystem::path>& png = {});

/// Reads everything: HDF5 of any known layout, IDX (plain or gzipped) or CIFAR's binaries; verifies
/// the checksums of our own layout. Returns one line that says what the file is.
/// Error: the first fault, with its place.
std::string check_data_file(const std::filesystem::path& path);

}  // namespace wasp
