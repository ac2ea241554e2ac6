// Who stands still, and what others are told of it.
#include "cluster/heartbeat.hpp"

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/error.hpp"
#include "base/failure.hpp"
#include "support/on_ranks.hpp"

namespace wasp {
namespace {

/// Three ranks, of which the last is on another node; the clock is the test's.
struct Ranks {
    static constexpr double limit = 16;  // seconds: check() looks every second
    std::vector<HeartbeatRecord> records = std::vector<HeartbeatRecord>(3);
    std::vector<Heartbeats> ranks;
    double now = 0;

    explicit Ranks(int process = 0) {
        for (int rank = 0; rank < 3; ++rank)
            ranks.emplace_back(records,
                               std::vector<Heartbeats::Who>{
                                   {"n1", 10, true}, {"n1", process, true}, {"n2", 12, rank == 2}},
                               rank);
        for (auto& rank : ranks) rank.start_step(7);
    }

    /// Seconds pass for rank 0, while the ranks `alive` give signs of life.
    std::string pass(int seconds, const std::vector<std::size_t>& alive, bool with_ended = false) {
        const auto failure = failure_of([&] {
            for (int i = 0; i < seconds; ++i) {
                now += 1;
                for (const std::size_t rank : alive) ranks[rank].beat();
                ranks[0].check(now, limit, with_ended);
            }
        });
        return failure ? failure->what() : "";
    }
};

TEST(Heartbeat, WhoGivesNoSignOfLifeIsNamedWithWhatItWasAt) {
    Ranks ranks(11);
    Heartbeats::Waiting waiting(ranks.ranks[2]);
    waiting.tell("rank 1 to come");
    EXPECT_EQ(ranks.pass(100, {1, 2}), "");
    EXPECT_EQ(ranks.pass(15, {2}), "");
    EXPECT_EQ(ranks.pass(5, {2}),
              "rank 1 (process 11 on n1), computing step 7, has given no sign of life for 16 s; "
              "rank 0: computing step 7; rank 2: waiting at step 7 for rank 1 to come: look there, "
              "or raise --stall-timeout");
    EXPECT_TRUE(ranks.ranks[0].is_lost(1, Ranks::limit));
    EXPECT_FALSE(ranks.ranks[0].is_lost(2, Ranks::limit));
}

TEST(Heartbeat, AnotherNodeHasAQuarterMoreTime) {
    Ranks ranks;
    EXPECT_EQ(ranks.pass(1, {1, 2}), "");
    EXPECT_EQ(ranks.pass(19, {1}), "");
    EXPECT_NE(ranks.pass(2, {1}).find("rank 2 (process 12 on n2), computing step 7, has"),
              std::string::npos);
}

TEST(Heartbeat, WhoStartsOrHasEndedIsNotMissed) {
    Ranks ranks;
    ranks.ranks[1].enter(Phase::starts);
    ranks.ranks[2].enter(Phase::ended);
    EXPECT_EQ(ranks.pass(100, {}), "");
    EXPECT_NE(ranks.pass(100, {}, true).find("rank 2 (process 12 on n2), ended, has given"),
              std::string::npos);
}

TEST(Heartbeat, WhoWasSuspendedItselfGivesOthersTimeToComeBack) {
    Ranks ranks;
    EXPECT_EQ(ranks.pass(1, {1, 2}), "");
    ranks.now += 1000;
    EXPECT_EQ(ranks.pass(10, {}), "");
    EXPECT_NE(ranks.pass(10, {}), "");
}

TEST(Heartbeat, AWaitThatOthersInTheirStepGetOnWithIsNoStall) {
    Ranks ranks;
    const auto before = ranks.ranks[0].positions();
    ranks.ranks[0].get_on();
    ranks.ranks[1].beat();
    ranks.ranks[2].start_step(8);  // nobody waits for its step 7 any more
    EXPECT_FALSE(ranks.ranks[0].anyone_got_on(before));
    ranks.ranks[1].get_on();
    EXPECT_TRUE(ranks.ranks[0].anyone_got_on(before));
}

TEST(Heartbeat, LongTextsAreCutAndInnerWaitsGiveBackTheOuter) {
    Ranks ranks(11);
    Heartbeats::Waiting outer(ranks.ranks[2]);
    outer.tell("the outer");
    {
        Heartbeats::Waiting inner(ranks.ranks[2]);
        inner.tell(std::string(200, 'x'));
        EXPECT_NE(ranks.ranks[0].report(1, false).find("rank 2: waiting at step 7 for xxxx"),
                  std::string::npos);
        EXPECT_NE(ranks.ranks[0].report(1, false).find("x…"), std::string::npos);
    }
    EXPECT_EQ(ranks.ranks[0].report(1, false),
              "rank 1: computing step 7; rank 2: waiting at step 7 for the outer");
}

TEST(Heartbeat, ARankThatADebuggerHoldsIsNotMissed) {
    const pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        raise(SIGSTOP);
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSTOPPED(status));
    Ranks ranks(child);
    EXPECT_EQ(ranks.pass(100, {2}), "");
    EXPECT_TRUE(ranks.ranks[0].any_traced());
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_NE(ranks.pass(100, {2}), "");
    EXPECT_TRUE(ranks.ranks[0].is_lost(1, 1e9));  // there is no such process
}

TEST(RanksHeartbeat, WhatARankIsAtIsKnownToAllOthers) {
    test::on_ranks({2, 4}, [](Cluster& cluster) {
        const double usual = cluster.stall_seconds();
        constexpr double soon = 8;  // seconds: nodes tell each other twice a second
        cluster.set_stall_seconds(soon);
        Heartbeats& heartbeats = cluster.heartbeats();
        heartbeats.start_step(100 + cluster.rank());
        // Everyone sees everyone's step, on other nodes a moment later.
        const auto all_seen = [&] {
            const auto report = heartbeats.report(soon, true);
            for (int rank = 0; rank < cluster.size(); ++rank)
                if (report.find(fmt::format("rank {}: ", rank)) == std::string::npos ||
                    report.find(fmt::format(" step {}", 100 + rank)) == std::string::npos)
                    return false;
            return true;
        };
        wait_until(cluster, all_seen, [] { return "the others' steps"; });
        cluster.barrier();
        heartbeats.enter(Phase::starts);
        cluster.set_stall_seconds(usual);
        cluster.barrier();
    });
}

}  // namespace
}  // namespace wasp
