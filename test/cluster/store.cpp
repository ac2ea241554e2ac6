// The shared weights: no push is lost, versions count them.
#include "cluster/parameter_store.hpp"

#include <vector>

#include "support/on_ranks.hpp"

namespace wasp {
namespace {

using test::on_ranks;

struct Layout {
    int owners;
    std::size_t shard_bytes;
};

TEST(RanksParameterStore, NoPushIsLostAndVersionsCountThem) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        constexpr int pushes = 5;
        for (const std::size_t n : {1, 63, 4096, 4097, 61'706})
            for (const auto& [owners, shard_bytes] : {Layout{1, 0},
                                                      {(cluster.size() + 1) / 2, 0},
                                                      {cluster.size(), 0},
                                                      {1, 1},
                                                      {cluster.size(), 1},
                                                      {(cluster.size() + 1) / 2, 50'000}}) {
                std::vector<float> weights(n);
                for (std::size_t i = 0; i < n; ++i) weights[i] = static_cast<float>(i % 1000);
                ParameterStore store(cluster, weights, owners, shard_bytes);
                std::vector<float> update(n);
                for (std::size_t i = 0; i < n; ++i) update[i] = static_cast<float>(i % 7);
                for (int i = 0; i < pushes; ++i) {
                    store.issue();
                    store.push(2.0F, update);
                    const std::int64_t version = store.version();
                    EXPECT_LE(version, store.issued());
                }
                cluster.barrier();
                const std::int64_t all = pushes * cluster.size();
                EXPECT_EQ(store.version(), all);
                EXPECT_EQ(store.issued(), all);
                std::vector<float> seen(n);
                store.pull(seen);
                for (std::size_t i = 0; i < n; ++i) {
                    const auto expected = weights[i] + 2.0F * static_cast<float>(all) * update[i];
                    ASSERT_EQ(seen[i], expected) << i << " of " << n << ", " << owners << " owners";
                }
                cluster.barrier();
            }
    });
}

// By number: floats that each rank holds.
std::vector<float> held(Cluster& cluster, std::size_t n, int owners, std::size_t shard_bytes) {
    const ParameterStore store(cluster, std::vector<float>(n), owners, shard_bytes);
    std::vector<float> all(static_cast<std::size_t>(cluster.size()));
    all[static_cast<std::size_t>(cluster.rank())] = static_cast<float>(store.size_here());
    cluster.sum(all);
    return all;
}

TEST(RanksParameterStore, ShardsAreDealtInTurnToOwnersFarApart) {
    on_ranks({4}, [](Cluster& cluster) {
        constexpr std::size_t block = Window::block;
        constexpr std::size_t block_bytes = block * sizeof(float);
        using Floats = std::vector<float>;
        const auto blocks = [](std::vector<float> counts) {
            for (float& count : counts) count *= static_cast<float>(block);
            return counts;
        };
        // As many as owners, of equal length; but none shorter than a block.
        EXPECT_EQ(held(cluster, 40 * block, 4, 0), blocks({10, 10, 10, 10}));
        EXPECT_EQ(held(cluster, 7 * block, 4, 0), blocks({2, 2, 2, 1}));
        EXPECT_EQ(held(cluster, 2 * block, 4, 0), blocks({1, 0, 1, 0}));
        EXPECT_EQ(held(cluster, 7 * block, 2, 0), blocks({4, 3, 0, 0}));
        EXPECT_EQ(held(cluster, 100, 4, 0), (Floats{100, 0, 0, 0}));
        // As they are asked for.
        EXPECT_EQ(held(cluster, 9 * block, 4, 1), blocks({3, 2, 2, 2}));
        EXPECT_EQ(held(cluster, 9 * block, 3, 2 * block_bytes), blocks({4, 3, 2, 0}));
        EXPECT_EQ(held(cluster, 9 * block, 4, 5 * block_bytes), blocks({5, 0, 4, 0}));
        EXPECT_EQ(held(cluster, 9 * block, 4, 1000 * block_bytes), blocks({9, 0, 0, 0}));
    });
}

}  // namespace
}  // namespace wasp
