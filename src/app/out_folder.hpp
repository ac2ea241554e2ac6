/// Whether files can be written where the user wants them, before hours are spent on them.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

namespace wasp {

/// The folder that a file is in; "." for a bare name.
std::filesystem::path folder_of(const std::filesystem::path& file);

/// Error: two of the files, each with its option, are the same by whatever names.
void check_differ(
    const std::vector<std::pair<std::string_view, std::filesystem::path>>& option_and_file);

/// Error: the folder of the file is missing or can't be written to; `option` is named.
void check_folder(const std::filesystem::path& file, std::string_view option);

/// Error: the same, or the file exists.
void check_can_create(const std::filesystem::path& file, std::string_view option);

}  // namespace wasp
