// What must hold for the protocols whose workers share weights (docs/PROTOCOLS.md, "What holds").
#include <algorithm>
#include <fstream>
#include <map>

#include "base/error.hpp"
#include "support/on_ranks.hpp"
#include "support/scratch.hpp"
#include "support/toy.hpp"

namespace wasp {
namespace {

using test::all_gather;
using test::check_near;
using test::on_ranks;
using test::optimisers;
using test::pushes;
using test::several_shards;
using test::sum;
using test::train;
using test::Trained;
using test::Training;

double sum_of_weights(Cluster& cluster, const Trained& trained) {
    double mine = 0;
    for (const Exchange& record : trained.records)
        if (record.pushed) mine += static_cast<double>(record.weight);
    return sum(cluster, mine);
}

/// Bit for bit the same on all ranks.
void expect_same_everywhere(Cluster& cluster, const std::vector<float>& weights) {
    const auto all = all_gather(cluster, weights);
    for (std::size_t i = 0; i < all.size(); ++i)
        ASSERT_EQ(all[i], weights[i % weights.size()]) << "rank " << i / weights.size();
}

TEST(RanksSharedWeights, OneWorkerIsSerialBitForBit) {
    on_ranks({1}, [](Cluster& cluster) {
        for (const SgdSetup& sgd : optimisers)
            for (const char* spec : {"serial",
                                     "bsp",
                                     "asp",
                                     "asp:scale=mean",
                                     "ssp",
                                     "ssp:S=0",
                                     "wasp",
                                     "wasp:period=1",
                                     "wasp:period=inf",
                                     "wasp:period=3,trigger=versions",
                                     "wasp:weight=inverse1",
                                     "wasp:weight=poly",
                                     "wasp:weight=hinge",
                                     "wasp:weight=bound",
                                     "wasp:weight=exp",
                                     "wasp:weight=drop,R=1",
                                     "wasp:weight=concurrency",
                                     "wasp:weight=constant",
                                     "wasp:weight=mean",
                                     "wasp:table=test/golden/weights.txt"}) {
                const Training training{.spec = spec, .sgd = sgd, .n = several_shards};
                const auto trained = train(cluster, training);
                EXPECT_EQ(trained.weights, train_alone(training, 0)) << spec;
                EXPECT_EQ(trained.version, training.steps) << spec;
                for (const Exchange& record : trained.records) EXPECT_EQ(record.bytes, 0);
            }
    });
}

TEST(RanksSharedWeights, OneWorkerBesideServersIsSerialBitForBit) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        const auto servers = ",servers=" + std::to_string(cluster.size() - 1);
        for (const char* spec :
             {"asp:scale=mean", "ssp:S=0", "wasp:period=3", "wasp:weight=mean"}) {
            const Training training{
                .spec = spec + servers, .sgd = optimisers[1], .n = several_shards};
            EXPECT_EQ(train(cluster, training).weights, train_alone(training, 0)) << training.spec;
        }
    });
}

TEST(RanksSharedWeights, SerialWantsOneRank) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        try {
            train(cluster, {.spec = "serial"});
            ADD_FAILURE() << "serial ran on " << cluster.size() << " ranks";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::usage);
        }
    });
}

TEST(RanksSharedWeights, BspReplicasAreIdenticalBitForBit) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        for (const SgdSetup& sgd : optimisers) {
            const auto trained =
                train(cluster, {.spec = "bsp", .sgd = sgd, .seen = [&](const test::Toy& toy, auto) {
                                    expect_same_everywhere(cluster, toy.weights);
                                }});
            EXPECT_EQ(trained.version, 20);
            for (const Exchange& record : trained.records) {
                EXPECT_EQ(record.staleness, 0);
                EXPECT_FLOAT_EQ(record.weight, 1.0F / static_cast<float>(cluster.size()));
            }
        }
    });
}

// Workers whose shards differ by an image are at slightly different epochs of a schedule.
TEST(RanksSharedWeights, BspTakesTheMeanOfDifferentLearningRates) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        const auto apart =
            train(cluster, {.spec = "bsp",
                            .sgd = optimisers[1],
                            .rate = 0.02F + 0.01F * static_cast<float>(cluster.rank()),
                            .seen = [&](const test::Toy& toy, auto) {
                                expect_same_everywhere(cluster, toy.weights);
                            }});
        const float mean = 0.02F + 0.005F * static_cast<float>(cluster.size() - 1);
        const auto alike = train(cluster, {.spec = "bsp", .sgd = optimisers[1], .rate = mean});
        // The rate is set once here, and BSP's mean then stays the mean.
        check_near(apart.weights, alike.weights);
    });
}

TEST(RanksSharedWeights, WaspWithMeanAndPeriodOneIsBsp) {
    on_ranks({1, 2, 4}, [](Cluster& cluster) {
        for (const SgdSetup& sgd : optimisers) {
            const auto bsp = train(cluster, {.spec = "bsp", .sgd = sgd});
            const auto wasp = train(cluster, {.spec = "wasp:weight=mean,period=1", .sgd = sgd});
            check_near(bsp.weights, wasp.weights);
        }
    });
}

// After each forced synchronisation tickets come as 0..P−1, so with T=1 the weights of a round are
// those of 0..P−1, in whatever order.
TEST(RanksSharedWeights, StepMassOfSynchronisedRounds) {
    on_ranks({1, 2, 4}, [](Cluster& cluster) {
        const auto trained = train(cluster, {.spec = "wasp:weight=inverse,period=1"});
        double harmonic = 0;
        std::map<std::int64_t, std::int64_t> each_once;
        for (int s = 0; s < cluster.size(); ++s) {
            harmonic += 1.0 / (s + 1);
            each_once[s] = 20;
        }
        EXPECT_NEAR(sum_of_weights(cluster, trained), 20 * harmonic, 1e-5);
        EXPECT_EQ(test::staleness_histogram(cluster, trained), each_once);
    });
}

TEST(RanksSharedWeights, ForcedSynchronisationMakesReplicasIdenticalBitForBit) {
    on_ranks({1, 2, 4}, [](Cluster& cluster) {
        for (const char* servers : {"", ",servers=1"}) {
            if (cluster.size() == 1 && *servers != '\0') continue;
            constexpr std::int64_t period = 7;
            std::vector<std::vector<float>> after;
            const auto trained =
                train(cluster, {.spec = std::string("wasp:period=7") + servers,
                                .sgd = optimisers[1],
                                .steps = 40,
                                .n = several_shards,
                                .seen = [&](const test::Toy& toy, std::int64_t step) {
                                    if ((step + 1) % period == 0) after.push_back(toy.weights);
                                }});
            const bool server = trained.records.empty();
            for (std::size_t k = 0; k < 40 / period; ++k) {
                // A server shows what worker 0 has, so that it can take part in the comparison.
                auto weights = server ? std::vector<float>(several_shards) : after.at(k);
                cluster.broadcast(std::as_writable_bytes(std::span(weights)), cluster.size() - 1);
                expect_same_everywhere(cluster, server ? weights : after.at(k));
            }
        }
    });
}

TEST(RanksSharedWeights, SspKeepsItsBound) {
    on_ranks({1, 2, 4}, [](Cluster& cluster) {
        for (const std::int64_t lead : {0, 1, 3}) {
            const auto done = cluster.make_counters(1);
            const auto trained =
                train(cluster, {.spec = "ssp:S=" + std::to_string(lead),
                                .steps = 60,
                                .seen = [&](const test::Toy& /*toy*/, std::int64_t step) {
                                    done->fetch_add(cluster.rank(), 0, 1);
                                    // The others have pushed; that they have returned is not said
                                    // yet.
                                    for (int rank = 0; rank < cluster.size(); ++rank)
                                        EXPECT_GE(done->read(rank, 0), step - lead);
                                }});
            const auto most = (cluster.size() - 1) * (2 * lead + 1);
            for (const auto& record : trained.records) EXPECT_LE(record.staleness, most);
            cluster.barrier();
        }
    });
}

// Steps of exactly 2^-6 on every weight: whatever is lost or applied twice shows in the sum.
TEST(RanksSharedWeights, NoUpdateIsLostOrAppliedTwice) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        for (const std::string spec :
             {"asp", "ssp:S=1", "wasp:weight=constant,period=5",
              "wasp:weight=constant,period=5,trigger=versions", "wasp:weight=drop,R=2,period=9"})
            for (const std::int64_t servers : {0, 1}) {
                if (servers == cluster.size()) continue;
                const auto keys =
                    (spec.find(':') == std::string::npos ? ":servers=" : ",servers=") +
                    std::to_string(servers);
                const auto trained = train(cluster, test::with_ones(spec + keys, 50));
                const double landed = pushes(cluster, trained);
                EXPECT_EQ(trained.weights, test::start_less(landed)) << spec + keys;
                EXPECT_EQ(trained.version, landed) << spec + keys;
                std::int64_t counted = 0;
                for (const auto& [s, count] : test::staleness_histogram(cluster, trained)) {
                    EXPECT_GE(s, 0);
                    counted += count;
                }
                EXPECT_EQ(counted, landed) << spec + keys;
            }
    });
}

TEST(RanksSharedWeights, DroppedGradientsLeaveNoTrace) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        // Rank 0 alone moves on; the others come once, when they are 10 versions behind.
        std::vector<int> script(10, 0);
        for (int rank = 1; rank < cluster.size(); ++rank) script.push_back(rank);
        for (int round = 0; round < 2; ++round)  // finish(): retire, then see that all have
            for (int rank = 0; rank < cluster.size(); ++rank) script.push_back(rank);
        TurnTakingCluster turns(cluster, script);
        const Training training{.spec = "wasp:weight=drop,R=5,period=inf",
                                .sgd = optimisers[1],
                                .steps = cluster.rank() == 0 ? 10 : 1,
                                .turns = &turns};
        const auto trained = train(turns, training);
        const bool late = cluster.rank() > 0;
        for (const Exchange& record : trained.records) {
            EXPECT_EQ(record.pushed, !late);
            EXPECT_EQ(record.weight, late ? 0.0F : 1.0F);
            EXPECT_EQ(record.staleness, late ? 10 : 0);
        }
        EXPECT_EQ(trained.version, 10);
        EXPECT_EQ(trained.weights, test::train_alone({.sgd = optimisers[1], .steps = 10}, 0));
    });
}

TEST(SharedWeights, VanishingWeightsAreWarnedOfOnce) {
    const test::Scratch scratch;
    const auto path = (scratch / "weights.txt").string();
    std::ofstream(path) << "0.0001\n";
    testing::internal::CaptureStderr();
    run_on_threads(1, [&](Cluster& cluster) {
        train(cluster, {.spec = "wasp:table=" + path, .steps = 300});
        train(cluster, {.spec = "wasp:weight=exp", .steps = 300});  // s = 0: nothing to warn of
    });
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(said.starts_with("warning: updates count only 1.0e-04 on average")) << said;
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}

}  // namespace
}  // namespace wasp
