/// Private to src/h5/: telling HDF5 files from others.
#pragma once

#include <filesystem>
#include <string>

namespace wasp::h5 {

/// Checks that `path` can be read and carries an HDF5 signature, without the library.
/// Error: as File's constructor, for what is not HDF5.
void check_signature(const std::filesystem::path& path);

}  // namespace wasp::h5
