// Local SGD with its slow momentum, and elastic averaging, against what is known of them.
#include <algorithm>
#include <cmath>

#include "support/on_ranks.hpp"
#include "support/toy.hpp"

namespace wasp {
namespace {

using test::all_gather;
using test::on_ranks;
using test::train;
using test::Trained;
using test::Training;

const SgdSetup heavy{.momentum = 0.9F, .weight_decay = 0.01F};

void expect_near(const std::vector<float>& a, const std::vector<float>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-6) << "weight " << i;
}

TEST(RanksAveraging, OneWorkerIsSerialBitForBit) {
    on_ranks({1}, [](Cluster& cluster) {
        for (const char* spec : {"localsgd", "localsgd:H=1", "localsgd:H=3,post=4,velocity=mean",
                                 "slowmo:beta=0,H=4", "bmuf:beta=0,H=4"}) {
            const Training training{.spec = spec, .sgd = heavy};
            EXPECT_EQ(train(cluster, training).weights, train_alone(training, 0)) << spec;
        }
    });
}

TEST(RanksAveraging, OfEveryStepIsBsp) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        const auto plain = train(cluster, {.spec = "bsp"});
        for (const char* spec : {"localsgd:H=1", "localsgd:H=9,post=20", "slowmo:H=1,beta=0"})
            expect_near(train(cluster, {.spec = spec}).weights, plain.weights);
        // A mean of velocities makes it so with momentum, too.
        const auto with_momentum = train(cluster, {.spec = "bsp", .sgd = heavy});
        expect_near(train(cluster, {.spec = "localsgd:H=1,velocity=mean", .sgd = heavy}).weights,
                    with_momentum.weights);
    });
}

TEST(RanksAveraging, WithoutSlowMomentumItIsLocalSgd) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        const auto local = train(cluster, {.spec = "localsgd:H=4", .sgd = heavy});
        for (const char* spec : {"slowmo:H=4,beta=0", "bmuf:H=4,beta=0"})
            EXPECT_EQ(train(cluster, {.spec = spec, .sgd = heavy}).weights, local.weights) << spec;
    });
}

// At a constant learning rate their formulas are the same.
TEST(RanksAveraging, SlowmoIsBmufAtConstantRate) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        const auto slowmo = train(cluster, {.spec = "slowmo:H=3,beta=0.7,alpha=0.9", .sgd = heavy});
        const auto bmuf = train(cluster, {.spec = "bmuf:H=3,beta=0.7,alpha=0.9", .sgd = heavy});
        EXPECT_EQ(slowmo.weights, bmuf.weights);
    });
}

TEST(RanksAveraging, ReplicasAreIdenticalBitForBitAfterEachMean) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        for (const char* spec : {"localsgd:H=4", "slowmo:H=4", "bmuf:H=4"}) {
            const auto trained = train(
                cluster,
                {.spec = spec, .sgd = heavy, .seen = [&](const test::Toy& toy, std::int64_t step) {
                     if ((step + 1) % 4 != 0) return;
                     const auto all = all_gather(cluster, toy.weights);
                     for (std::size_t i = 0; i < all.size(); ++i)
                         ASSERT_EQ(all[i], toy.weights[i % toy.weights.size()]);
                 }});
            EXPECT_EQ(trained.version, 5) << spec;
            EXPECT_EQ(std::ranges::count(trained.records, true, &Exchange::pushed), 5) << spec;
        }
    });
}

// The force takes from a worker what it gives to the centre: without gradients the sum of all
// weights and the centre stays, whoever meets the centre when.
TEST(RanksElastic, WhatAWorkerLosesTheCentreGains) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        const auto ranks = static_cast<float>(cluster.size());
        const float mine = 8.0F * static_cast<float>(cluster.rank() + 1);
        std::vector<float> end;
        const auto trained =
            train(cluster, {.spec = "easgd:tau=1,beta=0.5",
                            .rate = 0,
                            .steps = 30,
                            .start = [&](test::Toy& toy) { std::ranges::fill(toy.weights, mine); },
                            .seen = [&](const test::Toy& toy, auto) { end = toy.weights; }});
        auto sum = end;
        cluster.sum(sum);
        const test::Toy start(end.size());
        for (std::size_t i = 0; i < sum.size(); ++i) {
            const float before = start.weights[i] + 8.0F * ranks * (ranks + 1) / 2;
            EXPECT_NEAR(sum[i] + trained.weights[i], before, 1e-4);
        }
    });
}

TEST(RanksElastic, MeetingsAreCountedAsUpdatesOfTheCentre) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        const auto trained = train(cluster, {.spec = "easgd:tau=3", .steps = 50});
        EXPECT_EQ(trained.version, 16 * cluster.size());
        std::int64_t counted = 0;
        for (const auto& [s, count] : test::staleness_histogram(cluster, trained)) counted += count;
        EXPECT_EQ(counted, trained.version);
    });
}

TEST(RanksElastic, NoForceLeavesTheCentreAndTheWorkersAlone) {
    on_ranks({1, 2, 4}, [](Cluster& cluster) {
        std::vector<float> end;
        const Training training{.spec = "easgd:tau=1,beta=0",
                                .sgd = heavy,
                                .seen = [&](const test::Toy& toy, auto) { end = toy.weights; }};
        const auto trained = train(cluster, training);
        EXPECT_EQ(trained.weights, test::Toy(end.size()).weights);
        EXPECT_EQ(end, train_alone(training, cluster.rank()));
    });
}

}  // namespace
}  // namespace wasp
