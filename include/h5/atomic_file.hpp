/// Files that are complete at every moment: whoever opens `path` sees the old bytes or the new
/// ones, also after a crash, kill -9 or a full disk.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace wasp::h5 {

// Errors of all: exit code 2 when the path is at fault (no such folder, no permission, read-only,
// a folder), 1 when the machine is (disk full, quota, input/output error). Nothing is left behind.

/// Write aside in the same folder, sync, rename over `path`, sync the folder.
void replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// The same for a name that is not taken; of several processes that try, on any node, one succeeds.
/// False: `path` exists; it is untouched.
bool create_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// Removes what writers of `path` that were killed left beside it. Nobody writes it meanwhile.
void remove_unfinished(const std::filesystem::path& path);

/// The same of all files in `folder` whose names begin so.
void remove_unfinished_in(const std::filesystem::path& folder, std::string_view beginning);

/// Whether `path` could be written: by writing beside it. For a check before hours of work.
void check_writable(const std::filesystem::path& path);

}  // namespace wasp::h5
