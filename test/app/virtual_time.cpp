// Runs in virtual time as a user starts them.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

#include "report/results_file.hpp"
#include "support/files.hpp"
#include "support/wasp_program.hpp"

namespace wasp::test {
namespace {

/// Of mini-batches that threads could divide.
Words virtual_training(const Scratch& scratch, const char* name, const Words& more = {}) {
    return Words{"train",
                 "--data",
                 small_data().string(),
                 "--out",
                 (scratch / name).string(),
                 "--batch",
                 "40",
                 "--progress",
                 "none",
                 "--cluster",
                 "sim:tianhe2,ranks=6"} +
           more;
}

/// A build without SimGrid says so, and has nothing to test.
#define NEEDS_SIMGRID(outcome) \
    if ((outcome).err.find("SIMGRID=0") != std::string::npos) GTEST_SKIP() << (outcome).err

/// Curves and steps; the machine's first node has ranks 0 and 1, and so on.
void expect_same_bits(const Results& a, const Results& b) {
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
}

/// On one core or all, with any number of threads.
TEST(VirtualTime, TheSameRunHasTheSameBitsWhateverComputesIt) {
    const Scratch scratch;
    const Words words = {"--protocol", "wasp:period=5", "--epochs",
                         "2",          "--straggler",   "rank=1,slow=2"};
    const Outcome outcome = run_wasp(virtual_training(scratch, "a.h5", words));
    NEEDS_SIMGRID(outcome);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto a = read_results(scratch / "a.h5");
    EXPECT_GT(a.ranks[1].compute, 1.5 * a.ranks[0].compute);
    const std::array<std::pair<Words, Words>, 3> others{
        {{{"taskset", "1"}, {}},
         {{"env", "OMP_NUM_THREADS=2"}, {"--threads", "1"}},
         {{"env", "OMP_NUM_THREADS=4"}, {"--threads", "3"}}}};
    for (const auto& [before, more] : others) {
        SCOPED_TRACE(before.back());
        std::filesystem::remove(scratch / "b.h5");
        const auto other =
            run_command(before + wasp_words(virtual_training(scratch, "b.h5", words + more)));
        ASSERT_EQ(other.code, 0) << other.err;
        expect_same_bits(a, read_results(scratch / "b.h5"));
    }
}

TEST(VirtualTime, MaxTimeIsRealAndEndsIt) {
    const Scratch scratch;
    const auto outcome = run_wasp(
        virtual_training(scratch, "r.h5", {"--epochs", "1000000", "--max-time", "1seconds"}));
    NEEDS_SIMGRID(outcome);
    EXPECT_EQ(outcome.code, 75) << outcome.err;
    EXPECT_EQ(read_results(scratch / "r.h5").status, "stopped");
}

/// What `wasp train` on that cluster has learnt about times.
Attributes summary_of(const Scratch& scratch, const std::string& cluster, const Words& more = {}) {
    const auto out = scratch / "one.h5";
    std::filesystem::remove(out);
    const auto outcome = run_wasp(
        short_training(out, Words{"--cluster", cluster, "--epochs", "4", "--eval", "none"} + more));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return read_results(out).summary;
}

double number(const Attributes& attributes, const std::string& name) {
    return std::get<double>(attributes.at(name));
}

TEST(VirtualTime, WithoutGradientsTimesAreTheSame) {
    const Scratch scratch;
    NEEDS_SIMGRID(run_wasp(virtual_training(scratch, "r.h5", {"--epochs", "1"})));
    const std::string cluster = "sim:ethernet,ranks=4";
    for (const auto* const protocol : {"bsp", "wasp:period=10", "nosync"}) {
        const Words words = {"--protocol", protocol, "--model", "lenet5"};
        const auto real = summary_of(scratch, cluster, words);
        const auto none = summary_of(scratch, cluster + ",gradients=none", words);
        const double seconds = number(real, "training_seconds");
        EXPECT_NEAR(number(none, "training_seconds"), seconds, 0.05 * seconds) << protocol;
        EXPECT_NEAR(number(none, "staleness_mean"), number(real, "staleness_mean"), 0.2)
            << protocol;
        EXPECT_TRUE(std::isnan(number(none, "final_train_loss"))) << protocol;
    }
}

TEST(VirtualTime, APlatformFileIsTheMachineThatItWasMadeFrom) {
    const Scratch scratch;
    NEEDS_SIMGRID(run_wasp(virtual_training(scratch, "r.h5", {"--epochs", "1"})));
    const auto file = (scratch / "m.xml").string();
    const auto made = run_wasp({"predict", "platform", "--nodes", "3", "--out", file});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(number(summary_of(scratch, "sim:" + file + ",ranks=6"), "training_seconds"),
              number(summary_of(scratch, "sim:tianhe2,ranks=6"), "training_seconds"));
    EXPECT_EQ(not_refused(run_wasp(short_training(
                              scratch / "s.h5",
                              {"--cluster", "sim:" + file + ",ranks=7", "--epochs", "1"})),
                          2, "has 3 nodes"),
              "");
    write_file(scratch / "broken.xml", "<platform version='4.1'><zone></platform>");
    EXPECT_EQ(not_refused(run_wasp(short_training(
                              scratch / "s.h5",
                              {"--cluster", "sim:" + (scratch / "broken.xml").string() + ",ranks=1",
                               "--epochs", "1"})),
                          2, "broken.xml"),
              "");
}

TEST(VirtualTime, ACalibrationReplacesWhatAMachineIsSaidToBe) {
    const Scratch scratch;
    NEEDS_SIMGRID(run_wasp(virtual_training(scratch, "r.h5", {"--epochs", "1"})));
    const auto file = (scratch / "c.toml").string();
    for (const Words& bench :
         {Words{"bench", "step", "--cluster", "threads:2", "--model", "mlp"},
          Words{"bench", "store", "--cluster", "threads:2", "--floats", "9999"}})
        ASSERT_EQ(run_wasp(bench + Words{"--seconds", "0.1", "--calibrate", file}).code, 0);
    EXPECT_EQ(
        not_refused(run_wasp(short_training(
                        scratch / "s.h5",
                        {"--cluster", "sim:tianhe2,ranks=2,calibrate=" + file, "--epochs", "1"})),
                    2, "has no step of lenet5"),
        "");
    // Written by hand: steps of one second and of two, and nothing that varies.
    write_file(scratch / "c.toml",
               "[[step]]\nmodel = 'lenet5'\nbatch = 16\nthreads = 1\nseconds = 1.0\njitter = 0.0\n"
               "pauses = 0.0\npause = 0.0\npolls = 1\nslowness = [1.0, 2.0]\n");
    const auto summary = summary_of(scratch, "sim:tianhe2,ranks=2,spread=0,calibrate=" + file,
                                    {"--protocol", "asp", "--model", "lenet5"});
    EXPECT_NEAR(number(summary, "samples_per_second"), 16, 0.1);
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
