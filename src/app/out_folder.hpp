/// Whether files can be written where the user wants them, before hours are spent on them.
#pragma once

#include <filesystem>

namespace wasp {

/// The folder that a file is in; "." for a bare name.
std::filesystem::path folder_of(const std::filesystem::path& file);

/// Error: the file exists, or its folder is missing or can't be written to; `option` is named.
void check_can_create(const std::filesystem::path& file, std::string_view option);

}  // namespace wasp
