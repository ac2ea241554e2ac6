// The shared weights: no push is lost, versions count them.
#include "cluster/parameter_store.hpp"

#include <vector>

#include "support/on_ranks.hpp"

namespace wasp {
namespace {

using test::on_ranks;

TEST(RanksParameterStore, NoPushIsLostAndVersionsCountThem) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        constexpr int pushes = 5;
        for (const std::size_t n : {1, 63, 4096, 4097, 61'706})
            for (const int owners : {1, (cluster.size() + 1) / 2, cluster.size()}) {
                std::vector<float> weights(n);
                for (std::size_t i = 0; i < n; ++i) weights[i] = static_cast<float>(i % 1000);
                ParameterStore store(cluster, weights, owners);
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

}  // namespace
}  // namespace wasp
