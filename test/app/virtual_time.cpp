// Runs in virtual time as a user starts them.
#include <gtest/gtest.h>

#include "report/results_file.hpp"
#include "support/wasp_program.hpp"

namespace wasp::test {
namespace {

Words virtual_training(const Scratch& scratch, const char* name, const Words& more = {}) {
    return short_training(scratch / name,
                          Words{"--cluster", "sim:tianhe2,ranks=6", "--threads", "2"} + more);
}

/// A build without SimGrid says so, and has nothing to test.
#define NEEDS_SIMGRID(outcome) \
    if ((outcome).err.find("SIMGRID=0") != std::string::npos) GTEST_SKIP() << (outcome).err

TEST(VirtualTime, TheSameRunHasTheSameBitsOnAnyNumberOfCores) {
    const Scratch scratch;
    const Words words = {"--protocol", "wasp:period=5", "--epochs",
                         "2",          "--straggler",   "rank=1,slow=2"};
    const Outcome outcome = run_wasp(virtual_training(scratch, "a.h5", words));
    NEEDS_SIMGRID(outcome);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto on_one_core =
        run_command(Words{"taskset", "1"} + wasp_words(virtual_training(scratch, "b.h5", words)));
    ASSERT_EQ(on_one_core.code, 0) << on_one_core.err;
    const auto a = read_results(scratch / "a.h5"), b = read_results(scratch / "b.h5");
    EXPECT_EQ(a.curve.back().test_loss, b.curve.back().test_loss);
    EXPECT_EQ(a.curve.back().seconds, b.curve.back().seconds);
    ASSERT_EQ(a.ranks.size(), 6);
    for (std::size_t rank = 0; rank < a.ranks.size(); ++rank) {
        const auto &one = a.ranks[rank].steps, &other = b.ranks[rank].steps;
        ASSERT_EQ(one.size(), other.size());
        EXPECT_EQ(a.ranks[rank].node, static_cast<int>(rank) / 2);
        for (std::size_t i = 0; i < one.size(); ++i) {
            ASSERT_EQ(one[i].seconds, other[i].seconds);
            ASSERT_EQ(one[i].loss, other[i].loss);
            ASSERT_EQ(one[i].staleness, other[i].staleness);
        }
    }
    EXPECT_GT(a.ranks[1].compute, 1.5 * a.ranks[0].compute);
}

TEST(VirtualTime, MaxTimeIsRealAndEndsIt) {
    const Scratch scratch;
    const auto outcome = run_wasp(
        virtual_training(scratch, "r.h5", {"--epochs", "1000000", "--max-time", "1seconds"}));
    NEEDS_SIMGRID(outcome);
    EXPECT_EQ(outcome.code, 75) << outcome.err;
    EXPECT_EQ(read_results(scratch / "r.h5").status, "stopped");
}

TEST(VirtualTime, WhatItHasNotIsRefused) {
    const Scratch scratch;
    const auto refused = [&](const Words& more, const std::string& message) {
        return not_refused(run_wasp(short_training(scratch / "r.h5", more)), 2, message);
    };
    const Words sim = {"--cluster", "sim:tianhe2,ranks=2"};
    EXPECT_EQ(refused({"--cluster", "sim:tianhe,ranks=2"}, "did you mean 'tianhe2'"), "");
    EXPECT_EQ(refused({"--cluster", "sim:tianhe2"}, "needs ranks=N"), "");
    EXPECT_EQ(refused({"--cluster", "sim:tianhe2,ranks=2,jiter=1"}, "jiter"), "");
    EXPECT_EQ(refused(sim + Words{"--epochs", "1", "--checkpoint-every", "1"},
                      "--checkpoint-every doesn't go with"),
              "");
    EXPECT_EQ(
        refused(sim + Words{"--epochs", "1", "--resume", "r.ckpt"}, "--resume doesn't go with"),
        "");
    EXPECT_EQ(not_refused(run_wasp({"bench", "store", "--cluster", "sim:tianhe2,ranks=2"}), 2,
                          "real time is measured"),
              "");
}

}  // namespace
}  // namespace wasp::test
