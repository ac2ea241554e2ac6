// Rules with a server's side, and steps that are summed before they are pushed.
#include <algorithm>

#include "support/on_ranks.hpp"
#include "support/toy.hpp"

namespace wasp {
namespace {

using test::check_near;
using test::on_ranks;
using test::optimisers;
using test::pushes;
using test::several_shards;
using test::start_less;
using test::sum;
using test::train;
using test::Trained;
using test::Training;
using test::with_ones;

double dropped(Cluster& cluster, const Trained& trained) {
    return sum(cluster,
               static_cast<double>(std::ranges::count(trained.records, 0.0F, &Exchange::weight)));
}

TEST(RanksServed, OneWorkerIsSerialBitForBit) {
    on_ranks({1}, [](Cluster& cluster) {
        for (const SgdSetup& sgd : optimisers)
            for (const bool at_server : {false, true})
                for (const char* spec :
                     {"backup", "backup:b=0", "downpour:n_push=1,n_fetch=1", "softsync",
                      "softsync:n=1", "consgd", "dynsgd", "dcasgd", "dcasgd:lambda=constant",
                      "gapaware", "asp", "ssp", "wasp:period=3", "wasp:weight=poly,mass=one"}) {
                    const Training training{.spec = spec,
                                            .sgd = sgd,
                                            .momentum_at_server = at_server,
                                            .n = several_shards};
                    const auto trained = train(cluster, training);
                    EXPECT_EQ(trained.weights, train_alone(training, 0)) << spec;
                    EXPECT_EQ(trained.version, training.steps) << spec;
                    for (const Exchange& record : trained.records) EXPECT_EQ(record.bytes, 0);
                }
    });
}

TEST(RanksServed, DownpourAloneIsSerialButForRounding) {
    on_ranks({1}, [](Cluster& cluster) {
        const Training training{.spec = "downpour", .sgd = optimisers[1], .steps = 23};
        const auto trained = train(cluster, training);
        const auto expected = train_alone(training, 0);
        check_near(trained.weights, expected);
        EXPECT_EQ(trained.version, 5);  // after 5, 10, 15, 20 and the last step
    });
}

TEST(RanksServed, NoStepIsLostOrAppliedTwice) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        constexpr std::int64_t steps = 23;
        for (const char* spec :
             {"downpour", "downpour:n_push=3,n_fetch=7", "dcasgd:lambda=constant,l=0"}) {
            const auto trained = train(cluster, with_ones(spec, steps));
            EXPECT_EQ(trained.weights, start_less(steps * cluster.size())) << spec;
            EXPECT_EQ(static_cast<double>(trained.version), pushes(cluster, trained)) << spec;
            double counted = 0;
            for (const auto& [s, count] : test::staleness_histogram(cluster, trained)) {
                EXPECT_GE(s, 0);
                counted += static_cast<double>(count);
            }
            EXPECT_EQ(counted, static_cast<double>(trained.version)) << spec;
        }
    });
}

TEST(RanksServed, BackupWithoutSparesIsBsp) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        for (const SgdSetup& sgd : optimisers) {
            const auto bsp = train(cluster, {.spec = "bsp", .sgd = sgd});
            for (const bool at_server : {false, true}) {
                const auto backup = train(
                    cluster, {.spec = "backup:b=0", .sgd = sgd, .momentum_at_server = at_server});
                EXPECT_EQ(backup.version, bsp.version);
                for (std::size_t i = 0; i < bsp.weights.size(); ++i)
                    ASSERT_NEAR(bsp.weights[i], backup.weights[i], 2e-6);
            }
        }
    });
}

// Every update is the mean of 2^-6 from each, so it tells how many there were.
TEST(RanksServed, BackupCountsTheFirstAndDropsTheRest) {
    on_ranks({2, 4, 8}, [](Cluster& cluster) {
        const std::int64_t needed = cluster.size() - 1;
        const auto trained = train(cluster, with_ones("backup:b=1", 30));
        EXPECT_EQ(trained.weights, start_less(static_cast<double>(trained.version)));
        const double counted = pushes(cluster, trained);
        EXPECT_EQ(counted + dropped(cluster, trained), 30.0 * cluster.size());
        // The last groups are smaller, once some have finished.
        EXPECT_GE(counted, static_cast<double>(trained.version));
        EXPECT_LE(counted, static_cast<double>(trained.version * needed));
    });
}

TEST(RanksServed, SoftsyncOfOneGroupMakesOneUpdateOfPGradients) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        const auto trained = train(cluster, {.spec = "softsync:n=1", .steps = 24});
        EXPECT_EQ(pushes(cluster, trained), 24.0 * cluster.size());
        EXPECT_EQ(trained.version, 24);
        const auto each = train(cluster, {.spec = "softsync", .steps = 24});
        EXPECT_EQ(each.version, 24 * cluster.size());
        for (const Exchange& record : each.records)
            EXPECT_FLOAT_EQ(record.weight,
                            1 / static_cast<float>(std::max<std::int64_t>(record.staleness, 1)));
    });
}

TEST(RanksServed, WeightsOfConsgdAndDynsgd) {
    on_ranks({1, 2, 4}, [](Cluster& cluster) {
        for (const Exchange& record : train(cluster, {.spec = "consgd"}).records)
            EXPECT_FLOAT_EQ(record.weight, 1 / static_cast<float>(cluster.size()));
        for (const Exchange& record : train(cluster, {.spec = "dynsgd"}).records)
            EXPECT_FLOAT_EQ(record.weight, 1 / static_cast<float>(1 + record.staleness));
    });
}

// A velocity at the server sees every step: after k steps of −1 it is −(1 + μ + … + μ^(k−1)),
// whoever brought them.
TEST(RanksServed, MomentumAtTheServerIsThatOfAllSteps) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        const auto trained = train(cluster, {.spec = "asp",
                                             .sgd = {.momentum = 0.5F},
                                             .momentum_at_server = true,
                                             .rate = 0x1p-6F,
                                             .steps = 10,
                                             .gradient = [](test::Toy& toy) {
                                                 std::ranges::fill(toy.gradients, 1.0F);
                                                 return 0.0F;
                                             }});
        double velocity = 0;
        double moved = 0;
        for (int k = 0; k < 10 * cluster.size(); ++k) {
            velocity = 0.5 * velocity - 0x1p-6;
            moved += velocity;
        }
        const test::Toy start(trained.weights.size());
        for (std::size_t i = 0; i < trained.weights.size(); ++i)
            EXPECT_NEAR(static_cast<double>(trained.weights[i]),
                        static_cast<double>(start.weights[i]) + moved, 1e-5);
    });
}

// The gap of a weight that nobody moves is none, and a large one shrinks its gradient.
TEST(RanksServed, GapAwareShrinksWhatHasMovedOnly) {
    on_ranks({2}, [](Cluster& cluster) {
        // Rank 0 takes nine steps that move all weights but the first; then rank 1 comes with a
        // gradient of the weights as they were.
        std::vector<int> script(9, 0);
        script.push_back(1);
        for (int round = 0; round < 2; ++round)
            for (int rank = 0; rank < 2; ++rank) script.push_back(rank);
        TurnTakingCluster turns(cluster, script);
        const bool late = cluster.rank() == 1;
        const auto trained = train(turns, {.spec = "gapaware",
                                           .rate = 0x1p-4F,
                                           .steps = late ? 1 : 9,
                                           .gradient =
                                               [&](test::Toy& toy) {
                                                   std::ranges::fill(toy.gradients, 1.0F);
                                                   if (!late) toy.gradients[0] = 0;
                                                   return 0.0F;
                                               },
                                           .turns = &turns});
        const test::Toy start(trained.weights.size());
        EXPECT_NEAR(trained.weights[0], start.weights[0] - 0x1p-4F, 1e-6);
        for (std::size_t i = 1; i < trained.weights.size(); ++i) {
            const float last = start.weights[i] - 9 * 0x1p-4F - trained.weights[i];
            EXPECT_GT(last, 0) << i;
            EXPECT_LT(last, 0x1p-4F / 5) << i;
        }
    });
}

}  // namespace
}  // namespace wasp
