// The figures of a run against cases that can be worked out by hand.
#include "report/summary.hpp"
#include "support/results.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace wasp {
namespace {

using Histogram = std::vector<std::int64_t>;

RankRow worker(std::int64_t updates, double weight_sum, Histogram staleness = {}) {
    RankRow rank;
    rank.samples = 10 * updates;
    rank.updates = updates;
    rank.weight_sum = weight_sum;
    rank.staleness = std::move(staleness);
    return rank;
}

Summary summary_of(std::vector<RankRow> ranks, std::vector<CurveRow> curve = {},
                   std::optional<double> target = std::nullopt) {
    Results results;
    results.ranks = std::move(ranks);
    results.curve = std::move(curve);
    return summarise(results, 8, target);
}

CurveRow evaluation(double seconds, double accuracy) {
    CurveRow row;
    row.seconds = seconds;
    row.test_accuracy = accuracy;
    row.test_loss = 1 - accuracy;
    return row;
}

TEST(StalenessSummary, OfNoUpdatesIsZero) {
    for (const auto& empty : {Histogram{}, Histogram{0, 0, 0}}) {
        const auto summary = summarise_staleness(empty);
        EXPECT_EQ(summary.mean, 0);
        EXPECT_EQ(summary.max, 0);
    }
}

TEST(StalenessSummary, TakesTheNearestRank) {
    // 100 updates: 50 at 0, 45 at 1, 4 at 2, 1 at 7
    const auto summary = summarise_staleness(Histogram{50, 45, 4, 0, 0, 0, 0, 1, 0});
    EXPECT_DOUBLE_EQ(summary.mean, (45 + 8 + 7) / 100.0);
    EXPECT_EQ(summary.p50, 0);
    EXPECT_EQ(summary.p95, 1);
    EXPECT_EQ(summary.p99, 2);
    EXPECT_EQ(summary.max, 7);
}

TEST(StalenessSummary, OfOneUpdateIsThatUpdate) {
    const auto summary = summarise_staleness(Histogram{0, 0, 0, 1});
    EXPECT_EQ(summary.mean, 3);
    for (const auto s : {summary.p50, summary.p95, summary.p99, summary.max}) EXPECT_EQ(s, 3);
}

/// Against sorting all values, for every number of updates: no rounding at the borders.
TEST(StalenessSummary, PercentilesAreThoseOfTheSortedValues) {
    for (std::int64_t updates = 1; updates <= 200; ++updates) {
        const auto summary = summarise_staleness(Histogram(static_cast<std::size_t>(updates), 1));
        const auto at = [&](std::int64_t percent) { return (updates * percent + 99) / 100 - 1; };
        EXPECT_EQ(summary.p50, at(50)) << updates;
        EXPECT_EQ(summary.p95, at(95)) << updates;
        EXPECT_EQ(summary.p99, at(99)) << updates;
    }
}

/// protocols.md: P workers at equal speeds have s = P − 1 throughout.
TEST(StepMass, IsOneForInverseWeightsAtEqualSpeedsAndPForAsp) {
    constexpr int workers = 4, updates = 100;
    std::vector<RankRow> inverse, asp;
    for (int i = 0; i < workers; ++i) {
        inverse.push_back(worker(updates, updates / static_cast<double>(workers)));
        asp.push_back(worker(updates, updates));
    }
    EXPECT_DOUBLE_EQ(summary_of(inverse).step_mass, 1);
    EXPECT_DOUBLE_EQ(summary_of(asp).step_mass, workers);
}

/// After a forced synchronisation tickets come as s = 0 … P−1: mass 1 + 1/2 + … + 1/P.
TEST(StepMass, OfARoundAfterASynchronisationIsTheHarmonicNumber) {
    const auto summary =
        summary_of({worker(1, 1), worker(1, 1 / 2.0), worker(1, 1 / 3.0), worker(1, 1 / 4.0)});
    EXPECT_DOUBLE_EQ(summary.step_mass, 25 / 12.0);
}

TEST(StepMass, CountsUpdatesNotWorkersWhenSpeedsDiffer) {
    // 30 updates of weight 0.5, 10 of weight 0.1: P · 16 / 40
    EXPECT_DOUBLE_EQ(summary_of({worker(30, 15), worker(10, 1)}).step_mass, 2 * 16 / 40.0);
}

TEST(Summary, LeavesServersOutOfTheWorkers) {
    RankRow server;
    server.bytes = 500;
    server.wait = 1000;
    auto trained = worker(10, 10, {10});
    trained.bytes = 7;
    trained.dropped = 3;
    const auto summary = summary_of({server, trained, trained});
    EXPECT_EQ(summary.workers, 2);
    EXPECT_EQ(summary.samples, 200);
    EXPECT_EQ(summary.updates, 20);
    EXPECT_EQ(summary.bytes, 514);
    EXPECT_EQ(summary.dropped, 6);
    EXPECT_DOUBLE_EQ(summary.samples_per_second, 200 / 8.0);
    EXPECT_DOUBLE_EQ(summary.step_mass, 2);
    EXPECT_TRUE(std::isnan(summary.idle_share));  // no worker recorded any time
}

/// BSP with one worker of four that is four times slower: the others idle for 3/4 of the time.
TEST(Summary, IdleShareIsTheWaitOfTheRecordedTime) {
    std::vector<RankRow> ranks;
    for (int i = 0; i < 4; ++i) {
        auto rank = worker(10, 2.5);
        rank.compute = i == 0 ? 4 : 1;
        rank.wait = i == 0 ? 0 : 3;
        ranks.push_back(rank);
    }
    EXPECT_DOUBLE_EQ(summary_of(ranks).idle_share, 9.0 / 16);
    ranks[0].pull = ranks[0].push = ranks[0].poll = ranks[0].data = 1;
    EXPECT_DOUBLE_EQ(summary_of(ranks).idle_share, 9.0 / 20);
}

TEST(Summary, AddsTheHistogramsOfRanksOfDifferentLength) {
    const auto summary =
        summary_of({worker(3, 3, {2, 1}), worker(2, 2, {0, 0, 0, 2}), worker(1, 1)});
    EXPECT_DOUBLE_EQ(summary.staleness.mean, 7 / 5.0);
    EXPECT_EQ(summary.staleness.p50, 1);
    EXPECT_EQ(summary.staleness.max, 3);
}

TEST(Summary, TimeToAccuracyIsThatOfTheFirstEvaluationThatReachedIt) {
    const std::vector<CurveRow> curve{evaluation(1, 0.5), evaluation(2, 0.8), evaluation(3, 0.9),
                                      evaluation(4, 0.7)};
    const auto reached = summary_of({worker(1, 1)}, curve, 0.8);
    EXPECT_TRUE(reached.reached);
    EXPECT_EQ(reached.time_to_accuracy, 2);
    EXPECT_EQ(reached.best_accuracy, 0.9);
    EXPECT_EQ(reached.final_accuracy, 0.7);
    EXPECT_DOUBLE_EQ(reached.final_loss, 0.3);

    const auto missed = summary_of({worker(1, 1)}, curve, 0.95);
    EXPECT_FALSE(missed.reached);
    EXPECT_TRUE(std::isnan(missed.time_to_accuracy));
    EXPECT_EQ(missed.target_accuracy, 0.95);

    const auto without = summary_of({worker(1, 1)}, curve);
    EXPECT_FALSE(without.reached);
    EXPECT_TRUE(std::isnan(without.target_accuracy));
    EXPECT_TRUE(std::isnan(without.time_to_accuracy));
}

TEST(Summary, OfARunWithoutEvaluationsOrRanksKnowsThatItDoesNotKnow) {
    const auto summary = summarise({}, 0, 0.9);
    for (const double value : {summary.final_accuracy, summary.best_accuracy, summary.final_loss,
                               summary.step_mass, summary.idle_share, summary.time_to_accuracy})
        EXPECT_TRUE(std::isnan(value));
    EXPECT_EQ(summary.samples_per_second, 0);
    EXPECT_FALSE(summary.reached);
}

TEST(Summary, IsNotMisledByNan) {
    const double nan = std::nan("");
    const auto summary = summary_of(
        {worker(1, 1)}, {evaluation(1, nan), evaluation(2, 0.5), evaluation(3, nan)}, 0.4);
    EXPECT_EQ(summary.best_accuracy, 0.5);
    EXPECT_EQ(summary.time_to_accuracy, 2);
    EXPECT_TRUE(std::isnan(summary.final_accuracy));
}

TEST(Summary, WhatItTookToReachTheTarget) {
    auto results = test::example_results();
    auto summary = summarise(results, 4, 0.5);
    EXPECT_EQ(summary.updates_to_accuracy, 4);
    EXPECT_EQ(summary.samples_to_accuracy, 64);
    EXPECT_EQ(summary.seconds_per_update, 4.0 / 7);
    EXPECT_EQ(summary.train_test_gap, -0.25);
    EXPECT_EQ(summary.divergence_mean, 0.5);
    summary = summarise(results, 4, 0.9);
    EXPECT_TRUE(std::isnan(summary.updates_to_accuracy));
    EXPECT_TRUE(std::isnan(summary.samples_to_accuracy));
}

}  // namespace
}  // namespace wasp
