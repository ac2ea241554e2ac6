#include "base/free_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

namespace wasp {

namespace fs = std::filesystem;

namespace {

/// The first number behind `key` at the start of a line; without a key, that the file begins with.
std::optional<std::size_t> number_in(const fs::path& path, std::string_view key = {}) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(key)) continue;
        const auto digit = line.find_first_of("0123456789", key.size());
        if (digit == std::string::npos) return std::nullopt;
        std::size_t number = 0;
        const auto result = std::from_chars(line.data() + digit, line.data() + line.size(), number);
        return result.ec == std::errc() ? std::optional(number) : std::nullopt;
    }
    return std::nullopt;
}

/// What files of a version of control groups are called.
struct Names {
    const char *limit, *used, *droppable;
};
constexpr Names version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "};
constexpr Names version_2{"memory.max", "memory.current", "inactive_file "};

void lower(std::optional<std::size_t>& least, std::optional<std::size_t> other) {
    if (other) least = std::min(least.value_or(*other), *other);
}

std::optional<std::size_t> free_in(const fs::path& group, const Names& names) {
    const auto limit = number_in(group / names.limit);
    const auto used = number_in(group / names.used);
    if (!limit || !used) return std::nullopt;
    const auto droppable = number_in(group / "memory.stat", names.droppable).value_or(0);
    return *limit - std::min(*limit, *used - std::min(*used, droppable));
}

/// A group's limit counts for those inside it, too. In a container the outer ones can't be seen.
std::optional<std::size_t> free_from(const fs::path& mount, fs::path group, const Names& names) {
    std::optional<std::size_t> least;
    for (group = group.relative_path();; group = group.parent_path()) {
        lower(least, free_in(mount / group, names));
        if (group.empty()) return least;
    }
}

}  // namespace

std::optional<std::size_t> free_in_control_groups(const fs::path& root) {
    const fs::path mount = root / "sys/fs/cgroup";
    std::optional<std::size_t> least;
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const auto kinds = fmt::format(",{},", line.substr(first + 1, second - first - 1));
        const fs::path group = line.substr(second + 1);
        if (kinds == ",,")
            lower(least, free_from(mount, group, version_2));
        else if (kinds.find(",memory,") != std::string::npos)
            lower(least, free_from(mount / "memory", group, version_1));
    }
    return least;
}

std::optional<std::size_t> free_memory() {
    constexpr std::size_t kilobyte = 1024;
    auto free = number_in("/proc/meminfo", "MemAvailable:");
    if (free) *free *= kilobyte;
    lower(free, free_in_control_groups());
    return free;
}

}  // namespace wasp
