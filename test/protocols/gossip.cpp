// Decentralised protocols against what is known of them: sums that must stay, and reductions.
#include <algorithm>
#include <cmath>

#include "support/on_ranks.hpp"
#include "support/toy.hpp"

namespace wasp {
namespace {

using test::on_ranks;
using test::train;
using test::Trained;
using test::Training;

constexpr int threads_only = 3;
const SgdSetup heavy{.momentum = 0.9F, .weight_decay = 0.01F};

/// Every rank's weights are pushed apart by its first step, and not moved by any other.
std::function<float(test::Toy&)> one_kick(Cluster& cluster) {
    return [&cluster, first = true](test::Toy& toy) mutable {
        std::ranges::fill(toy.gradients, first ? -static_cast<float>(cluster.rank()) : 0.0F);
        first = false;
        return 0.0F;
    };
}

std::vector<double> sum_of_models(Cluster& cluster, const Trained& trained) {
    std::vector<double> sum(trained.weights.begin(), trained.weights.end());
    cluster.sum(sum);
    return sum;
}

TEST(RanksGossip, OneWorkerIsSerialBitForBit) {
    on_ranks({1}, [](Cluster& cluster) {
        for (const char* spec : {"dpsgd", "adpsgd", "adpsgd:graph=complete", "sgp", "lsgd"}) {
            const Training training{.spec = spec, .sgd = heavy, .n = 5000};
            EXPECT_EQ(train(cluster, training).weights, train_alone(training, 0)) << spec;
        }
    });
}

// Averages are doubly stochastic: the sum of all models moves by the steps only, and all models
// come together.
TEST(RanksGossip, TheMeanStaysAndModelsComeTogether) {
    on_ranks({2, threads_only, 4, 8}, [](Cluster& cluster) {
        const auto ranks = static_cast<double>(cluster.size());
        for (const char* spec : {"dpsgd", "adpsgd", "adpsgd:graph=complete", "sgp"}) {
            const auto trained = train(
                cluster, {.spec = spec, .rate = 1, .steps = 200, .gradient = one_kick(cluster)});
            const auto sum = sum_of_models(cluster, trained);
            const test::Toy start(sum.size());
            for (std::size_t i = 0; i < sum.size(); ++i) {
                const double mean = static_cast<double>(start.weights[i]) + (ranks - 1) / 2;
                EXPECT_NEAR(sum[i], ranks * mean, 1e-3) << spec;
            }
        }
        for (const char* spec : {"dpsgd", "sgp"}) {  // these keep pace: 200 rounds of all
            const auto trained = train(
                cluster, {.spec = spec, .rate = 1, .steps = 200, .gradient = one_kick(cluster)});
            const auto sum = sum_of_models(cluster, trained);
            for (std::size_t i = 0; i < sum.size(); ++i)
                EXPECT_NEAR(static_cast<double>(trained.weights[i]), sum[i] / ranks, 1e-3) << spec;
        }
    });
}

// On 2^k ranks, after each round of log2 P exchanges every model is the exact mean.
TEST(RanksGossip, PushSumOnPowersOfTwoAveragesExactlyInLogSteps) {
    on_ranks({2, 4, 8}, [](Cluster& cluster) {
        const std::int64_t rounds = cluster.size() == 2 ? 1 : cluster.size() == 4 ? 2 : 3;
        const auto trained = train(
            cluster, {.spec = "sgp", .rate = 1, .steps = rounds, .gradient = one_kick(cluster)});
        const test::Toy start(trained.weights.size());
        for (std::size_t i = 0; i < trained.weights.size(); ++i)
            EXPECT_NEAR(trained.weights[i],
                        start.weights[i] + static_cast<float>(cluster.size() - 1) / 2, 1e-6);
    });
}

TEST(RanksGossip, KeepingPaceIsDeterministicAlsoWhenRanksFinishEarly) {
    on_ranks({2, 4, 8}, [](Cluster& cluster) {
        for (const char* spec : {"dpsgd", "sgp"}) {
            const Training training{
                .spec = spec, .sgd = heavy, .steps = 10 + 7 * (cluster.rank() % 3)};
            const auto once = train(cluster, training);
            for (int again = 0; again < 3; ++again)
                EXPECT_EQ(train(cluster, training).weights, once.weights) << spec;
        }
    });
}

TEST(RanksGossip, PushSumKeepsItsMassWhenRanksFinishEarly) {
    on_ranks({threads_only, 4, 8}, [](Cluster& cluster) {
        const auto trained = train(cluster, {.spec = "sgp",
                                             .rate = 1,
                                             .steps = 5 + 20 * cluster.rank(),
                                             .gradient = [](test::Toy& toy) {
                                                 std::ranges::fill(toy.gradients, 0.0F);
                                                 return 0.0F;
                                             }});
        // All started from the same weights: whatever the shares, z = x/w must still be these.
        const test::Toy start(trained.weights.size());
        for (std::size_t i = 0; i < trained.weights.size(); ++i)
            EXPECT_NEAR(trained.weights[i], start.weights[i], 1e-6);
    });
}

TEST(RanksGossip, NobodyButTheLeaderIsFollowed) {
    on_ranks({2, threads_only, 4}, [](Cluster& cluster) {
        constexpr int leader = 1;
        const float mine = cluster.rank() == leader ? 1.0F : 5.0F;
        const auto trained =
            train(cluster, {.spec = "lsgd:tau=1,p=0.5",
                            .rate = 0,
                            .steps = 60,
                            .start = [&](test::Toy& toy) { std::ranges::fill(toy.weights, mine); },
                            .gradient =
                                [&](test::Toy& toy) {
                                    std::ranges::fill(toy.gradients, 0.0F);
                                    return mine;
                                },
                            .seen =
                                [&](const test::Toy& toy, auto) {
                                    if (cluster.rank() != leader) return;
                                    for (const float x : toy.weights) ASSERT_EQ(x, mine);
                                }});
        for (const float x : trained.weights) EXPECT_LE(x, mine);
    });
}

}  // namespace
}  // namespace wasp
