// Ranks in virtual time, against closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "cluster/clocks.hpp"
#include "cluster/parameter_store.hpp"
#include "cluster/sim.hpp"
#include "support/toy.hpp"

namespace wasp {
namespace {

using test::Trained;
using test::Training;

/// Without a network that would cost anything, a second a step.
SimOptions seconds_of_computing(int ranks, double jitter = 0) {
    return {.ranks = ranks, .machine = {.jitter = jitter}, .compute = {.start = 1}};
}

struct Outcome {
    std::vector<Trained> ranks;
    std::vector<double> ends;  // seconds of each rank's last step
};

/// slow: of rank 0.
Outcome train(const SimOptions& options, const Training& training, double slow = 1) {
    Outcome outcome{std::vector<Trained>(static_cast<std::size_t>(options.ranks)),
                    std::vector<double>(static_cast<std::size_t>(options.ranks))};
    run_on_sim(options, [&](Cluster& cluster) {
        Training mine = training;
        std::int64_t step = 0;
        mine.gradient = [&](test::Toy& toy) {
            const double before = cluster.seconds();
            cluster.compute(1, [] {});
            if (cluster.rank() == 0) cluster.linger((slow - 1) * (cluster.seconds() - before));
            return toy.gradient(cluster.rank(), step++);
        };
        const auto me = static_cast<std::size_t>(cluster.rank());
        mine.seen = [&](const test::Toy& /*toy*/, std::int64_t /*step*/) {
            outcome.ends[me] = cluster.seconds();
        };
        outcome.ranks[me] = test::train(cluster, mine);
    });
    return outcome;
}

double waited(const Trained& trained) {
    double seconds = 0;
    for (const auto& record : trained.records) seconds += record.wait_seconds;
    return seconds;
}

TEST(SimCluster, TheSameSeedGivesTheSameBits) {
    SimOptions options{.ranks = 12,
                       .machine = machine_preset("tianhe2"),
                       .compute = {.start = 1e-4, .polls = 20},
                       .seed = 3};
    options.machine.ranks_per_node = 3;
    for (const auto* const spec :
         {"wasp:period=7", "asp", "ssp", "dynsgd", "bsp", "nosync:tau=3"}) {
        const Training training{.spec = spec, .steps = 30, .n = test::several_shards};
        const Outcome first = train(options, training);
        options.seed = 4;
        const Outcome other = train(options, training);
        options.seed = 3;
        const Outcome again = train(options, training);
        EXPECT_EQ(first.ends, again.ends) << spec;
        EXPECT_NE(first.ends, other.ends) << spec;
        for (std::size_t rank = 0; rank < first.ranks.size(); ++rank) {
            const Trained &a = first.ranks[rank], &b = again.ranks[rank];
            EXPECT_EQ(a.weights, b.weights) << spec;
            for (std::size_t i = 0; i < a.records.size(); ++i) {
                ASSERT_EQ(a.records[i].staleness, b.records[i].staleness) << spec;
                ASSERT_EQ(a.records[i].pull_seconds, b.records[i].pull_seconds) << spec;
            }
        }
    }
}

/// E(max of n) of the log-normal distribution of mean 1, ∫ 1 − F(x)^n dx.
double expected_maximum(int n, double variation) {
    const double sigma = std::sqrt(std::log1p(variation * variation));
    const auto below = [&](double x) {
        return 0.5 * std::erfc(-(std::log(x) + sigma * sigma / 2) / sigma / std::numbers::sqrt2);
    };
    constexpr double dx = 1e-4;
    double mean = 0;
    for (double x = dx / 2; x < 10; x += dx) mean += (1 - std::pow(below(x), n)) * dx;
    return mean;
}

TEST(SimCluster, AStepOfBspTakesTheExpectedMaximumOfAllRanks) {
    constexpr int steps = 400;
    constexpr double jitter = 0.3;
    for (const int ranks : {1, 4, 32}) {
        const auto outcome =
            train(seconds_of_computing(ranks, jitter), {.spec = "bsp", .steps = steps, .n = 8});
        // The maximum varies less than one of them does.
        const double error = 4 * jitter / std::sqrt(1.0 * steps);
        EXPECT_NEAR(outcome.ends[0] / steps, expected_maximum(ranks, jitter), error) << ranks;
    }
}

TEST(SimCluster, StalenessOfAspAtEqualSpeedsIsThatOfAllOthers) {
    for (const int ranks : {2, 16, 64}) {
        const auto outcome =
            train(seconds_of_computing(ranks, 0.05), {.spec = "asp", .steps = 40, .n = 8});
        double sum = 0, pushes = 0;
        for (const auto& rank : outcome.ranks)
            for (const auto& record : std::span(rank.records).subspan(1)) {
                sum += static_cast<double>(record.staleness);
                ++pushes;
            }
        EXPECT_NEAR(sum / pushes, ranks - 1, 0.02 * ranks) << ranks;
    }
}

TEST(SimCluster, ClocksOfSspAreNeverFurtherApartThanItsBound) {
    constexpr std::int64_t bound = 2;
    run_on_sim(seconds_of_computing(16, 1.0), [&](Cluster& cluster) {
        Clocks clocks(cluster);
        for (int step = 0; step < 60; ++step) {
            cluster.compute(1, [] {});
            clocks.tick();
            clocks.wait_for_slowest(clocks.mine() - bound);
            EXPECT_GE(clocks.slowest(), clocks.mine() - bound);
        }
        clocks.retire();
        clocks.wait_for_all_retired();
    });
}

/// Docs: a ×4 slow worker makes the others idle as the rule says.
TEST(SimCluster, AStragglerGivesTheIdleSharesOfTheRule) {
    constexpr double slow = 4;
    constexpr int steps = 40;
    const auto idle = [&](const char* spec) {
        const auto outcome =
            train(seconds_of_computing(8), {.spec = spec, .steps = steps, .n = 8}, slow);
        return waited(outcome.ranks[1]) / outcome.ends[1];
    };
    EXPECT_NEAR(idle("bsp"), 1 - 1 / slow, 1e-6);
    EXPECT_NEAR(idle("asp"), 0, 1e-6);
    // S steps ahead and then as BSP: the fast end their last step when the slow one ends its
    // step steps − S.
    const double end = slow * (steps - 3);
    EXPECT_NEAR(idle("ssp:S=3"), (end - steps) / end, 0.02);
    // Every ten steps all wait for the slow one: as long as BSP, in one piece.
    EXPECT_NEAR(idle("wasp:period=10"), 1 - 1 / slow, 1e-6);
}

TEST(SimCluster, NoSyncOnARingContractsByItsEigenvalues) {
    constexpr int ranks = 8, steps = 6;
    constexpr double pressure = 0.3;
    for (const int wave : {1, 3}) {
        const auto at = [&](int rank) {
            return std::cos(2 * std::numbers::pi * wave * rank / ranks);
        };
        const double eigenvalue = 1 - pressure * (1 - at(1));
        std::vector<double> ends(ranks);
        run_on_sim(seconds_of_computing(ranks, 0.5), [&](Cluster& cluster) {
            Training training{
                .spec = "nosync:tau=1,p=0.3,exchange=sendrecv", .steps = steps, .n = 8};
            training.start = [&](test::Toy& toy) {
                std::ranges::fill(toy.weights, static_cast<float>(at(cluster.rank())));
            };
            training.gradient = [&](test::Toy& toy) {
                cluster.compute(1, [] {});
                std::ranges::fill(toy.gradients, 0.0F);
                return 0.0F;
            };
            const Trained trained = test::train(cluster, training);
            ends[static_cast<std::size_t>(cluster.rank())] =
                static_cast<double>(trained.weights[0]);
        });
        for (int rank = 0; rank < ranks; ++rank)
            EXPECT_NEAR(ends[static_cast<std::size_t>(rank)],
                        at(rank) * std::pow(eigenvalue, steps), 1e-5);
    }
}

/// Of what an operation takes, without any other rank.
TEST(SimCluster, CallsTakeWhatTheMachineSays) {
    Machine machine{.ranks_per_node = 2,
                    .bandwidth = 1e9,
                    .latency = 1e-5,
                    .service = 2e-6,
                    .counter = 1e-6,
                    .copy = 4e9,
                    .add = 2e9,
                    .memory = 1e12};
    run_on_sim({.ranks = 4, .machine = machine}, [](Cluster& cluster) {
        constexpr std::size_t n = 100'000;
        constexpr double bytes = 4 * n;
        const auto window = cluster.make_window(n);
        const auto counters = cluster.make_counters(1);
        std::vector<float> values(n, 1);
        const auto took = [&](auto call) {
            const double before = cluster.seconds();
            call();
            return cluster.seconds() - before;
        };
        if (cluster.rank() == 0) {
            constexpr double tolerance = 1e-8;
            EXPECT_NEAR(took([&] { window->get(1, 0, values); }), bytes / 4e9, tolerance);
            EXPECT_NEAR(took([&] { window->add(1, 0, 1, values); }), bytes / 2e9, tolerance);
            EXPECT_NEAR(took([&] { window->get(2, 0, values); }), 2e-5 + 2e-6 + bytes / 1e9,
                        tolerance);
            EXPECT_NEAR(took([&] { window->add(2, 0, 1, values); }),
                        2e-5 + 2e-6 + bytes / 1e9 + bytes / 2e9, tolerance);
            EXPECT_NEAR(took([&] { counters->fetch_add(1, 0, 1); }), 1e-6, tolerance);
            EXPECT_NEAR(took([&] { counters->fetch_add(3, 0, 1); }), 2e-5 + 2e-6, 2e-8);
            EXPECT_EQ(took([&] { counters->fetch_add(0, 0, 1); }), 0);
        }
        cluster.barrier();
        // Three ranks at one owner: its link carries one after another.
        if (cluster.rank() != 3) {
            const double seconds = took([&] { window->get(3, 0, values); });
            if (cluster.rank() == 1) {
                EXPECT_NEAR(seconds, 2e-5 + 2 * 2e-6 + 2 * bytes / 1e9, 1e-5);
            }
        }
    });
}

TEST(SimCluster, AComputingOwnerServesBetweenItsLayers) {
    SimOptions options{.ranks = 2,
                       .machine = {.bandwidth = 1e9, .latency = 1e-6, .interrupts = false},
                       .compute = {.start = 1, .polls = 10}};
    run_on_sim(options, [](Cluster& cluster) {
        const auto window = cluster.make_window(1);
        cluster.barrier();
        const double start = cluster.seconds();
        if (cluster.rank() == 1) {
            cluster.compute(1, [] {});
        } else {
            cluster.linger(0.25);
            float value = 0;
            window->get(1, 0, {&value, 1});
            EXPECT_NEAR(cluster.seconds() - start, 0.3, 1e-5);
        }
    });
}

/// One thread, and more.
TEST(SimCluster, WorkIsDoneWhenItsTimeIsOverAndItsErrorIsTheRanks) {
    SimOptions options{.ranks = 5, .compute = {.start = 1}};
    for (const int threads : {1, 3}) {
        options.threads = threads;
        run_on_sim(options, [](Cluster& cluster) {
            bool done = false;
            cluster.compute(1, [&] { done = true; });
            EXPECT_TRUE(done);
            EXPECT_EQ(cluster.seconds(), 1);
        });
        const auto fails = [](Cluster& cluster) {
            cluster.compute(1, [&] { ENSURE(cluster.rank() != 3, "this one can't"); });
            cluster.barrier();
        };
        EXPECT_THROW(run_on_sim(options, fails), Error);
    }
}

/// A get that was asked for before an add sees what lay there before.
TEST(SimCluster, MemoryChangesInTheOrderInWhichCallsArrive) {
    SimOptions options{.ranks = 3, .machine = {.bandwidth = 1e9, .latency = 1e-3}};
    run_on_sim(options, [](Cluster& cluster) {
        const auto window = cluster.make_window(1);
        cluster.barrier();
        float value = 1;
        if (cluster.rank() == 1) {
            cluster.linger(1e-4);
            window->add(0, 0, 5, {&value, 1});
            window->get(0, 0, {&value, 1});
            EXPECT_EQ(value, 5);
        }
        if (cluster.rank() == 2) {
            window->get(0, 0, {&value, 1});
            EXPECT_EQ(value, 0);
        }
        cluster.barrier();
        window->get(0, 0, {&value, 1});
        EXPECT_EQ(value, 5);
    });
}

TEST(SimCluster, WhenNobodyCanGoOnTheRunEndsAndSaysWhoWaitsForWhom) {
    const auto message_of = [](const std::function<void(Cluster&)>& body) -> std::string {
        try {
            run_on_sim(seconds_of_computing(3), body);
        } catch (const Error& error) {
            return error.what();
        }
        return "it ended";
    };
    EXPECT_EQ(message_of([](Cluster& cluster) {
                  Clocks clocks(cluster);
                  if (cluster.rank() == 1) cluster.linger(7);
                  if (cluster.rank() != 2) clocks.tick();
                  clocks.wait_for_slowest(1);
              }),
              "nobody can go on: rank 1 waits for rank 2 (at 0) to reach clock 1");
    EXPECT_EQ(message_of([](Cluster& cluster) {
                  if (cluster.rank() != 2) cluster.barrier();
              }),
              "nobody can go on: rank 0 waits for rank 2 to come to a collective operation");
}

TEST(SimCluster, AFailureOfOneRankEndsAll) {
    EXPECT_THROW(run_on_sim(seconds_of_computing(4),
                            [](Cluster& cluster) {
                                if (cluster.rank() == 2) throw Error(ExitCode::usage, "mine");
                                cluster.barrier();
                            }),
                 Error);
}

/// And the run ends: were every tick looked at by everybody, it would take minutes for thousands.
TEST(SimCluster, HundredsMeetAtAGate) {
    const auto outcome =
        train(seconds_of_computing(512, 0.2), {.spec = "wasp:period=2", .steps = 4, .n = 8});
    EXPECT_EQ(outcome.ranks[0].version, 4 * 512);
}

}  // namespace
}  // namespace wasp
