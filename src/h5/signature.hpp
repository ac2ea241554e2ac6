/// Private to src/h5/: telling HDF5 files from others.
#pragma once

#include <filesystem>
#include <string>

namespace wasp::h5 {

/// Checks that `path` can be read, and carries an HDF5 signature and what the library can bear
/// behind it, without the library.
/// Error: as File's constructor, for what is not HDF5; addresses or lengths not of 8 bytes (none
/// since the 1990s); driver information.
void check_signature(const std::filesystem::path& path);

}  // namespace wasp::h5
