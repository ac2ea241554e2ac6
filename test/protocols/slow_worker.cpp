// One worker of four that takes four times as long a step, in virtual time: how long the others
// idle, and how many steps it makes for theirs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/summary.hpp"
#include "support/toy.hpp"
#include "support/virtual_time.hpp"

namespace wasp::test {
namespace {

constexpr int workers = 4;
constexpr int slow_worker = 2;
constexpr double slow = 4;  // seconds a step; the others take 1
constexpr std::int64_t steps = 48;

struct Worked {
    std::vector<double> ends;  // of each step, in virtual seconds
    std::vector<Exchange> records;

    double waited() const {
        double sum = 0;
        for (const Exchange& record : records) sum += record.wait_seconds;
        return sum;
    }
    auto steps_till(double moment) const {
        return std::ranges::count_if(ends, [=](double end) { return end <= moment; });
    }
};

double step_seconds(int rank) {
    return rank == slow_worker ? slow : 1;
}

std::vector<Worked> work(const std::string& spec) {
    std::vector<Worked> all(workers);
    run_in_virtual_time(workers, [&](VirtualCluster& cluster) {
        Worked& mine = all[static_cast<std::size_t>(cluster.rank())];
        std::int64_t step = 0;
        const auto trained = train(
            cluster,
            {.spec = spec,
             .steps = steps,
             .gradient =
                 [&](Toy& toy) {
                     cluster.spend(step_seconds(cluster.rank()));
                     return toy.gradient(cluster.rank(), step++);
                 },
             .seen = [&](const Toy&, std::int64_t) { mine.ends.push_back(cluster.seconds()); }});
        mine.records = trained.records;
    });
    return all;
}

/// Of the workers that are not slow, the share of their time that they waited.
double idle_share_of_the_fast(const std::vector<Worked>& all) {
    Results results;
    for (int rank = 0; rank < workers; ++rank) {
        if (rank == slow_worker) continue;
        RankRow row;
        row.samples = steps;
        row.compute = steps * step_seconds(rank);
        row.wait = all[static_cast<std::size_t>(rank)].waited();
        results.ranks.push_back(row);
    }
    return summarise(results, 1, {}).idle_share;
}

/// The slow worker's steps for each of a fast one, until the first is done.
double pace_of_the_slow(const std::vector<Worked>& all) {
    double end = all[0].ends.back();
    for (const Worked& worker : all) end = std::min(end, worker.ends.back());
    return static_cast<double>(all[slow_worker].steps_till(end)) /
           static_cast<double>(all[0].steps_till(end));
}

TEST(SlowWorker, HoldsTheOthersUpWhereAllMeetEveryStep) {
    for (const char* spec : {"bsp", "ssp:S=0", "wasp:period=1,weight=mean", "localsgd:H=1"}) {
        const auto all = work(spec);
        EXPECT_DOUBLE_EQ(idle_share_of_the_fast(all), 0.75) << spec;  // 3 of 4 seconds
        EXPECT_DOUBLE_EQ(pace_of_the_slow(all), 1) << spec;
    }
}

// As long, only not as often.
TEST(SlowWorker, HoldsTheOthersUpWhereAllMeetNowAndThen) {
    for (const char* spec : {"wasp:period=12", "localsgd:H=12", "bmuf:H=12"})
        EXPECT_DOUBLE_EQ(idle_share_of_the_fast(work(spec)), 0.75) << spec;
}

TEST(SlowWorker, HoldsNobodyUpWhereNobodyWaits) {
    for (const char* spec : {"asp", "downpour", "softsync", "dcasgd", "wasp:period=inf", "easgd",
                             "nosync", "adpsgd", "lsgd"}) {
        const auto all = work(spec);
        EXPECT_EQ(idle_share_of_the_fast(all), 0) << spec;
        EXPECT_DOUBLE_EQ(pace_of_the_slow(all), 0.25) << spec;
    }
}

TEST(SlowWorker, IsDroppedByBackupAsLongAsTheOthersWork) {
    const auto all = work("backup:b=1");
    EXPECT_EQ(idle_share_of_the_fast(all), 0);
    const auto& [ends, records] = all[slow_worker];
    for (std::size_t step = 0; step < steps; ++step)
        if (ends[step] <= all[0].ends.back()) {
            EXPECT_EQ(records[step].weight, 0) << step;
        }
    EXPECT_GT(records.back().weight, 0);  // then it is alone
}

// A fast worker's step k ends when the slow one has done k − S: after 4(N − S) seconds it has made
// all N, in N of which it computed.
TEST(SlowWorker, IsWaitedForBySspWhenItIsSStepsBehind) {
    for (const std::int64_t lead : {3, 10}) {
        const auto all = work(fmt::format("ssp:S={}", lead));
        const double end = slow * static_cast<double>(steps - lead);
        EXPECT_DOUBLE_EQ(all[0].ends.back(), end) << lead;
        EXPECT_DOUBLE_EQ(idle_share_of_the_fast(all), 1 - steps / end) << lead;
    }
}

// Each forced synchronisation costs a fast worker at most one step of the slow one.
TEST(SlowWorker, IsWaitedForOneStepByWaspThatCountsVersions) {
    constexpr double period = 10;
    const auto all = work("wasp:period=10,trigger=versions");
    double most = 0;
    for (int rank = 0; rank < workers; ++rank)
        for (const Exchange& record : all[static_cast<std::size_t>(rank)].records)
            most = std::max(most, record.wait_seconds);
    EXPECT_GT(most, 0);
    EXPECT_LE(most, slow);
    // The others alone make T·P updates in this time.
    constexpr double between = period * workers / (workers - 1 + 1 / slow);
    EXPECT_LE(idle_share_of_the_fast(all), slow / (between + slow));
    EXPECT_LT(pace_of_the_slow(all), 0.3);
}

}  // namespace
}  // namespace wasp::test
