/// Small text files that a user names.
#pragma once

#include <filesystem>
#include <string>

namespace wasp {

/// The whole file.
/// Error: missing, unreadable, larger than `most` bytes, or no ordinary file (a pipe or a device
/// would never end); names the path.
std::string read_text_file(const std::filesystem::path& path, std::size_t most);

}  // namespace wasp
