// NoSync against what is known of it: independent runs, the mixing matrix of a ring, D-PSGD.
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.hpp"
#include "support/on_ranks.hpp"
#include "support/toy.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {
namespace {

using test::check_near;
using test::on_ranks;
using test::train;
using test::Training;

constexpr int threads_only = 3;

TEST(RanksNosync, WithoutPressureItIsIndependentSerialRunsBitForBit) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        for (const char* spec :
             {"nosync:p=0,tau=1", "nosync:p=0,tau=3", "nosync:p=0,tau=2,exchange=sendrecv",
              "nosync:p=0,tau=1,apply=velocity", "nosync:p=0,tau=1,target=best"}) {
            const Training training{
                .spec = spec, .sgd = {.momentum = 0.9F, .weight_decay = 0.01F}, .n = 5000};
            const auto trained = train(cluster, training);
            EXPECT_EQ(trained.weights, train_alone(training, cluster.rank())) << spec;
            EXPECT_EQ(trained.version, training.steps);
            for (const Exchange& record : trained.records) EXPECT_FALSE(record.pushed);
        }
    });
}

// Weight k of rank r starts as the eigenvector cos(2πkr/P) of the ring, and shrinks by its
// eigenvalue 1 − p(1 − cos(2πk/P)) with every exchange.
TEST(RanksNosync, RingContractsWithItsEigenvalues) {
    on_ranks({2, threads_only, 4, 8}, [](Cluster& cluster) {
        constexpr int looks = 6;
        constexpr double p = 0.3;
        const auto n = static_cast<std::size_t>(cluster.size());
        const auto angle = [&](std::size_t k) {
            return 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
        };
        const auto trained = train(cluster, {.spec = "nosync:p=0.3,tau=2,exchange=sendrecv",
                                             .rate = 0,
                                             .steps = 2 * looks,
                                             .n = n,
                                             .start = [&](test::Toy& toy) {
                                                 for (std::size_t k = 0; k < n; ++k)
                                                     toy.weights[k] = static_cast<float>(
                                                         std::cos(angle(k) * cluster.rank()));
                                             }});
        std::vector<double> mean(trained.weights.begin(), trained.weights.end());
        cluster.sum(mean);
        for (std::size_t k = 0; k < n; ++k) {
            const double value = 1 - p * (1 - std::cos(angle(k)));
            EXPECT_NEAR(trained.weights[k],
                        std::pow(value, looks) * std::cos(angle(k) * cluster.rank()), 1e-6);
            EXPECT_NEAR(mean[k], k == 0 ? static_cast<double>(n) : 0, 1e-5);  // it does not move
        }
    });
}

/// D-PSGD on a ring of P ≥ 3, each row of W being (1/3, 1/3, 1/3): step, then mix.
/// Source: Lian et al. 2017, algorithm 1 with its lines in the order step, average.
std::vector<std::vector<float>> ring_dpsgd(int ranks, std::int64_t steps, float rate) {
    const auto n = static_cast<std::size_t>(ranks);
    std::vector<test::Toy> toys(n, test::Toy(37));
    for (std::int64_t step = 0; step < steps; ++step) {
        for (std::size_t r = 0; r < n; ++r) {
            toys[r].gradient(static_cast<std::int64_t>(r), step);
            for (std::size_t i = 0; i < 37; ++i) toys[r].weights[i] -= rate * toys[r].gradients[i];
        }
        const auto before = toys;
        for (std::size_t r = 0; r < n; ++r)
            for (std::size_t i = 0; i < 37; ++i)
                toys[r].weights[i] = (before[(r + n - 1) % n].weights[i] + before[r].weights[i] +
                                      before[(r + 1) % n].weights[i]) /
                                     3;
    }
    std::vector<std::vector<float>> models;
    for (const auto& toy : toys) models.push_back(toy.weights);
    return models;
}

TEST(RanksNosync, TwoThirdsTowardsTheMeanEveryStepIsRingDpsgd) {
    on_ranks({threads_only, 4, 8}, [](Cluster& cluster) {
        const auto trained =
            train(cluster, {.spec = "nosync:p=0.66666667,tau=1,exchange=sendrecv", .steps = 30});
        const auto expected =
            ring_dpsgd(cluster.size(), 30, 0.05F)[static_cast<std::size_t>(cluster.rank())];
        check_near(trained.weights, expected);
    });
}

TEST(RanksNosync, SendrecvIsDeterministicAlsoWhenRanksFinishEarly) {
    on_ranks({2, 4, 8}, [](Cluster& cluster) {
        const Training training{.spec = "nosync:tau=3,p=0.4,exchange=sendrecv,target=best",
                                .sgd = {.momentum = 0.9F},
                                .steps = 10 + 7 * (cluster.rank() % 3)};
        const auto once = train(cluster, training);
        for (int again = 0; again < 3; ++again)
            EXPECT_EQ(train(cluster, training).weights, once.weights);
    });
}

TEST(RanksNosync, AModelOfNansIsSkippedAndCounted) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        constexpr int sick = 1;
        const auto trained = train(cluster, {.spec = "nosync:tau=2,p=0.5,exchange=sendrecv",
                                             .steps = 20,
                                             .start = [&](test::Toy& toy) {
                                                 if (cluster.rank() == sick)
                                                     toy.weights[3] =
                                                         std::numeric_limits<float>::quiet_NaN();
                                             }});
        int skipped = 0;
        for (const Exchange& record : trained.records) skipped += record.skipped;
        const bool beside = cluster.rank() == 0 || cluster.rank() == 2;
        EXPECT_EQ(skipped, beside ? 10 : 0);
        EXPECT_EQ(all_finite(trained.weights), cluster.rank() != sick);
    });
}

// Rank 1 takes one step and no more; rank 0 sees it age. Once rank 1 has finished, what it last
// published counts as it is.
TEST(RanksNosync, OldNeighboursAreSkippedUntilTheyHaveFinished) {
    on_ranks({2}, [](Cluster& cluster) {
        const std::vector<int> script{1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1};
        TurnTakingCluster turns(cluster, script);
        const auto trained = train(turns, {.spec = "nosync:tau=1,max_age=3",
                                           .steps = cluster.rank() == 0 ? 10 : 1,
                                           .turns = &turns});
        if (cluster.rank() != 0) return;
        const std::vector<int> skipped{0, 0, 0, 0, 1, 1, 0, 0, 0, 0};
        for (std::size_t step = 0; step < skipped.size(); ++step) {
            EXPECT_EQ(trained.records[step].skipped, skipped[step]) << "step " << step + 1;
            EXPECT_EQ(trained.records[step].staleness, static_cast<std::int64_t>(step));
        }
    });
}

TEST(RanksNosync, VelocityIsRefusedWithNesterov) {
    on_ranks({1, 2}, [](Cluster& cluster) {
        EXPECT_THROW(train(cluster, {.spec = "nosync:apply=velocity",
                                     .sgd = {.momentum = 0.9F, .nesterov = true}}),
                     Error);
    });
}

}  // namespace
}  // namespace wasp
