/// How much memory is left.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

namespace wasp {

/// Bytes that this process may still take: of the machine, and of its control groups.
/// Empty: unknown.
std::optional<std::size_t> free_memory();

/// Of the control groups, version 1 or 2, that this process is in: of the one that has least left.
/// Files that can be dropped from memory count as free. Empty: there is no limit.
/// root: where the files of Linux are.
std::optional<std::size_t> free_in_control_groups(const std::filesystem::path& root = "/");

}  // namespace wasp
