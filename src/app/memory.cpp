#include "memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "base/error.hpp"

namespace wasp {

namespace {

constexpr double gigabyte = 1e9;

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

std::size_t estimate_memory(const TrainConfig& config, const ModelSetup& setup,
                            const ProtocolFacts& facts) {
    // Beside the model: the velocity; its part of the shared weights, or what a NoSync rank
    // publishes (3), reads of two neighbours (2) and aims at (1).
    const std::size_t copies = 1 + (facts.shares_weights ? 1 : 6);
    return estimate_bytes(config.model, setup) +
           copies * count_weights(config.model, setup) * sizeof(float);
}

std::optional<std::size_t> free_memory() {
    constexpr std::size_t kilobyte = 1024;
    auto free = number_in("/proc/meminfo", "MemAvailable:");
    if (free) *free *= kilobyte;
    const auto most = number_in("/sys/fs/cgroup/memory.max");
    const auto used = number_in("/sys/fs/cgroup/memory.current");
    if (most && used) free = std::min(free.value_or(*most), *most - std::min(*most, *used));
    return free;
}

void check_memory(Cluster& cluster, const TrainConfig& config, std::size_t bytes) {
    constexpr std::size_t much = 500'000'000;
    const Place& place = cluster.place();
    const auto free = free_memory();
    const auto wanted = bytes * static_cast<std::size_t>(place.ranks_on_node);
    const auto in_gigabytes = [](std::size_t count) {
        return static_cast<double>(count) / gigabyte;
    };
    collectively(cluster, [&] {
        if (!free || place.rank_on_node != 0) return;
        REQUIRE(wanted <= *free,
                "{} with --batch {} takes about {:.1f} GB a rank: {} rank(s) on {} want {:.1f} GB, "
                "and {:.1f} GB are free; take a smaller --batch or fewer ranks a node",
                config.model, config.batch, in_gigabytes(bytes), place.ranks_on_node, place.host,
                in_gigabytes(wanted), in_gigabytes(*free));
    });
    if (cluster.rank() == 0 && bytes >= much)
        fmt::print(stderr, "wasp: note: {} with --batch {} takes about {:.1f} GB a rank\n",
                   config.model, config.batch, in_gigabytes(bytes));
}

}  // namespace wasp
