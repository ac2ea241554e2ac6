// Ranks that take different numbers of steps: every protocol ends, and an early finisher never
// holds the others.
#include <array>

#include "support/on_ranks.hpp"
#include "support/toy.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {
namespace {

using test::on_ranks;
using test::train;

constexpr std::array specs{"bsp",
                           "asp",
                           "asp:servers=1",
                           "ssp:S=0",
                           "ssp",
                           "ssp:S=1,servers=1",
                           "wasp:period=1",
                           "wasp:period=5",
                           "wasp:period=5,servers=1",
                           "wasp:period=5,trigger=versions",
                           "wasp:period=1,trigger=versions,servers=1",
                           "wasp:weight=drop,R=2,period=5",
                           "backup",
                           "backup:b=0",
                           "backup:b=3,servers=1",
                           "downpour",
                           "downpour:n_push=1,n_fetch=3",
                           "softsync",
                           "softsync:n=1",
                           "consgd:S=0",
                           "dynsgd",
                           "dcasgd",
                           "dcasgd:lambda=constant,servers=1",
                           "gapaware",
                           "localsgd:H=1",
                           "localsgd:H=8",
                           "slowmo:H=5",
                           "bmuf:H=5",
                           "easgd:tau=2",
                           "easgd:tau=1,servers=1",
                           "eamsgd:tau=4,mu=0.5",
                           "dpsgd",
                           "adpsgd",
                           "adpsgd:graph=complete",
                           "sgp",
                           "lsgd:tau=2",
                           "wasp:node_sum=on,period=5",
                           "nosync:groups=2,tau=2",
                           "nosync:groups=1,inner=wasp:period=5",
                           "nosync:groups=2,inner=asp,tau=1",
                           "nosync:tau=1",
                           "nosync:tau=4",
                           "nosync:tau=1,exchange=sendrecv",
                           "nosync:tau=4,exchange=sendrecv"};

constexpr std::array<std::array<std::int64_t, 4>, 6> step_counts{{{26, 25, 25, 25},
                                                                  {1, 1, 1, 0},
                                                                  {0, 0, 0, 0},
                                                                  {2, 60, 60, 60},
                                                                  {60, 60, 60, 3},
                                                                  {10, 20, 30, 40}}};

TEST(RanksUnevenSteps, EveryProtocolEnds) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        const auto me = static_cast<std::size_t>(cluster.rank());
        for (const std::string spec : specs)
            for (const auto& steps : step_counts) {
                SCOPED_TRACE(spec + " with " + std::to_string(steps[me]) + " steps");
                const auto trained = train(
                    cluster,
                    {.spec = spec, .sgd = {.momentum = 0.9F}, .rate = 0.01F, .steps = steps[me]});
                ASSERT_TRUE(all_finite(trained.weights));
                if (!protocol_facts(spec).shares_weights) continue;
                const auto all = test::all_gather(cluster, trained.weights);
                for (std::size_t i = 0; i < all.size(); ++i)
                    ASSERT_EQ(all[i], trained.weights[i % trained.weights.size()]);
            }
    });
}

TEST(RanksUnevenSteps, BspEndsWithTheWeightsOfTheMostSteps) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        // Only the last rank goes on after step 3, so it trains alone from there.
        const bool last = cluster.rank() == cluster.size() - 1;
        std::vector<float> before_finish;
        const auto trained = train(
            cluster,
            {.spec = "bsp", .steps = last ? 9 : 3, .seen = [&](const test::Toy& toy, std::int64_t) {
                 before_finish = toy.weights;
             }});
        EXPECT_EQ(trained.version, 9);
        for (std::size_t i = 0; i < trained.records.size(); ++i)
            EXPECT_FLOAT_EQ(trained.records[i].weight,
                            i < 3 ? 1.0F / static_cast<float>(cluster.size()) : 1.0F);
        if (!last) return;
        EXPECT_EQ(trained.weights, before_finish);
    });
}

}  // namespace
}  // namespace wasp
