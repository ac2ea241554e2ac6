#include "memory.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "base/error.hpp"
#include "base/free_memory.hpp"

namespace wasp {

namespace {

constexpr double gigabyte = 1e9;

}  // namespace

std::size_t estimate_memory(const TrainConfig& config, const ModelSetup& setup,
                            const ProtocolFacts& facts) {
    // Beside the model: the velocity; its part of the shared weights, or what a NoSync rank
    // publishes (3), reads of two neighbours (2) and aims at (1); and what compression holds back,
    // and pushes.
    const bool compresses = parse_compression(config.compress).kind != Compression::Kind::none;
    const std::size_t copies = 1 + (facts.shares_weights ? 1 : 6) + (compresses ? 2 : 0);
    return estimate_bytes(config.model, setup) +
           copies * count_weights(config.model, setup) * sizeof(float);
}

void check_memory(Cluster& cluster, const TrainConfig& config, std::size_t bytes) {
    constexpr std::size_t much = 500'000'000;
    const Place& place = cluster.place();
    const auto free = free_memory();
    const int here = cluster.is_virtual() ? cluster.size() : place.ranks_on_node;
    const auto wanted = bytes * static_cast<std::size_t>(here);
    const auto in_gigabytes = [](std::size_t count) {
        return static_cast<double>(count) / gigabyte;
    };
    collectively(cluster, [&] {
        if (!free || place.rank_on_node != 0) return;
        REQUIRE(wanted <= *free,
                "{} with --batch {} takes about {:.1f} GB a rank: {} rank(s) on {} want {:.1f} GB, "
                "and {:.1f} GB are free; take a smaller --batch or fewer ranks a node",
                config.model, config.batch, in_gigabytes(bytes), here, place.host,
                in_gigabytes(wanted), in_gigabytes(*free));
    });
    if (cluster.rank() == 0 && bytes >= much)
        fmt::print(stderr, "wasp: note: {} with --batch {} takes about {:.1f} GB a rank\n",
                   config.model, config.batch, in_gigabytes(bytes));
}

}  // namespace wasp
