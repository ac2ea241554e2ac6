#include "base/free_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

namespace wasp {

namespace {

/// The first number in a file, or behind `key`.
std::optional<std::size_t> number_in(const char* path, std::string_view key = {}) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(key)) continue;
        const auto digit = line.find_first_of("0123456789");
        if (digit == std::string::npos) return std::nullopt;
        return std::stoull(line.substr(digit));
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::size_t> free_memory() {
    constexpr std::size_t kilobyte = 1024;
    auto free = number_in("/proc/meminfo", "MemAvailable:");
    if (free) *free *= kilobyte;
    const auto most = number_in("/sys/fs/cgroup/memory.max");
    const auto used = number_in("/sys/fs/cgroup/memory.current");
    if (most && used) free = std::min(free.value_or(*most), *most - std::min(*most, *used));
    return free;
}

}  // namespace wasp
