// A run that was stopped goes on as if nothing had been; what can't go on is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "report/model_file.hpp"
#include "report/results_file.hpp"
#include "support/process.hpp"
#include "support/wasp_program.hpp"

namespace wasp::test {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

bool same_weights(const fs::path& a, const fs::path& b) {
    return std::ranges::equal(
        read_model_file(a).tensors, read_model_file(b).tensors,
        [](const auto& x, const auto& y) { return x.name == y.name && x.values == y.values; });
}

constexpr int batch = 8;

Words training(const fs::path& out, const std::string& protocol, int ranks, int updates,
               const std::string& compress = "none") {
    return Words{"train", "--data", small_data().string(), "--out", out.string()} +
           Words{"--cluster", fmt::format("threads:{}", ranks), "--threads", "1"} +
           Words{"--model", "mlp-dropout", "--batch", std::to_string(batch), "--eval", "none"} +
           Words{"--protocol", protocol, "--updates", std::to_string(updates)} +
           Words{"--lr-schedule", "cosine", "--progress", "none", "--compress", compress};
}

/// Of a run, the oldest first.
std::vector<std::string> checkpoints(const fs::path& out) {
    std::vector<std::string> paths;
    for (const auto& entry : fs::directory_iterator(fs::path(out) += ".ckpt"))
        paths.push_back(entry.path().string());
    std::ranges::sort(paths);
    return paths;
}

struct Case {
    std::string protocol;
    int ranks = 2;
    std::string compress = "none";
};

/// Of runs that are asked for one at their first step, their second and so on. Where they come to
/// it depends a little on who comes first: there, or a step or a synchronisation later.
std::map<std::string, fs::path> checkpoints_of_many_steps(const Scratch& scratch, const Case& run,
                                                          int steps) {
    const auto& [protocol, ranks, compress] = run;
    std::map<std::string, fs::path> all;
    for (int step = 1; step < steps; ++step) {
        const auto out = scratch / fmt::format("asked-at-{}.h5", step);
        const auto outcome =
            run_wasp(training(out, protocol, ranks, steps * ranks, compress) +
                     Words{"--checkpoint-every", fmt::format("{}updates", step * ranks),
                           "--keep-checkpoints", "99"});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        if (!fs::exists(fs::path(out) += ".ckpt")) continue;  // one had finished
        for (const auto& file : checkpoints(out)) all.emplace(fs::path(file).filename(), file);
    }
    return all;
}

TEST(Checkpoints, SynchronousRunsInterruptedAtEveryStepGoOnBitForBit) {
    constexpr int steps = 20;  // of each rank
    for (const auto& run :
         {Case{"serial", 1}, Case{"bsp"}, Case{"localsgd:H=3"}, Case{"slowmo:H=4"},
          Case{"nosync:exchange=sendrecv,tau=3,target=random"}, Case{"asp", 1, "topk:0.1"}}) {
        const auto& [protocol, ranks, compress] = run;
        const Scratch scratch;
        const auto whole = scratch / "whole.h5";
        const auto model = scratch / "whole-model.h5";
        const auto undisturbed =
            run_wasp(training(whole, protocol, ranks, steps * ranks, compress) +
                     Words{"--save-model", model});
        ASSERT_EQ(undisturbed.code, 0) << undisturbed.err;
        const auto files = checkpoints_of_many_steps(scratch, run, steps);
        EXPECT_GE(files.size(), steps / 4U) << protocol;  // which of the steps depends on timing
        for (const auto& [name, file] : files) {
            const auto again = scratch / ("again-" + name);
            const auto model_again = scratch / ("model-" + name);
            const auto outcome =
                run_wasp(training(again, protocol, ranks, steps * ranks, compress) +
                         Words{"--resume", file, "--save-model", model_again});
            ASSERT_EQ(outcome.code, 0) << protocol << ": " << outcome.err;
            EXPECT_TRUE(same_weights(model_again, model)) << protocol << " from " << file;
            const auto results = read_results(again);
            for (const auto& rank : results.ranks) {
                EXPECT_EQ(rank.samples, steps * batch);
                EXPECT_EQ(rank.steps.size(), static_cast<std::size_t>(steps));
            }
        }
    }
}

std::int64_t updates_and_drops(const Results& results) {
    std::int64_t all = 0;
    for (const auto& rank : results.ranks) all += rank.updates + rank.dropped;
    return all;
}

TEST(Checkpoints, EveryProtocolGoesOnAndLosesNoUpdate) {
    constexpr int steps = 150;  // of each worker
    for (const std::string protocol : {"backup",
                                       "asp",
                                       "downpour:n_push=3,n_fetch=2",
                                       "ssp:S=1",
                                       "softsync",
                                       "consgd",
                                       "dynsgd",
                                       "dcasgd",
                                       "gapaware",
                                       "easgd:tau=3",
                                       "eamsgd:tau=3",
                                       "bmuf:H=4",
                                       "dpsgd",
                                       "adpsgd",
                                       "sgp",
                                       "lsgd:tau=3",
                                       "nosync:tau=3",
                                       "nosync:tau=3,groups=2,inner=bsp",
                                       "wasp:period=5",
                                       "wasp:period=10,trigger=versions",
                                       "wasp:mass=one",
                                       "wasp:servers=1",
                                       "wasp:node_sum=on"}) {
        const Scratch scratch;
        const int ranks = protocol.find("groups") == std::string::npos ? 3 : 4;
        const int workers = protocol.find("servers") == std::string::npos ? ranks : ranks - 1;
        const auto first = scratch / "first.h5", again = scratch / "again.h5";
        const auto began =
            run_wasp(training(first, protocol, ranks, steps * workers) +
                     Words{"--checkpoint-every", fmt::format("{}updates", 20 * workers)});
        ASSERT_EQ(began.code, 0) << protocol << ": " << began.err;
        ASSERT_TRUE(fs::exists(fs::path(first) += ".ckpt")) << protocol;
        const auto outcome = run_wasp(training(again, protocol, ranks, steps * workers) +
                                      Words{"--resume", checkpoints(first).front()});
        ASSERT_EQ(outcome.code, 0) << protocol << ": " << outcome.err;
        const auto then = read_results(first), now = read_results(again);
        std::int64_t samples = 0;
        for (const auto& rank : now.ranks) {
            samples += rank.samples;
            EXPECT_EQ(std::reduce(rank.staleness.begin(), rank.staleness.end()), rank.updates)
                << protocol;
        }
        std::int64_t samples_then = 0;
        for (const auto& rank : then.ranks) samples_then += rank.samples;
        EXPECT_EQ(samples, samples_then) << protocol;
        EXPECT_EQ(updates_and_drops(now), updates_and_drops(then)) << protocol;
    }
}

TEST(Checkpoints, RecordedRunsAreReplayedBitForBitFromEachOfThem) {
    constexpr int ranks = 3, updates = 40 * ranks;
    for (const std::string protocol :
         {"asp", "ssp:S=1", "dcasgd", "backup", "wasp:period=10,trigger=versions,mass=one",
          "easgd:tau=3", "adpsgd", "nosync:tau=3"}) {
        const Scratch scratch;
        const auto run = [&](const std::string& name, const Words& more) {
            const auto outcome =
                run_wasp(training(scratch / (name + ".h5"), protocol, ranks, updates) +
                         Words{"--save-model", scratch / (name + "-model.h5")} + more);
            EXPECT_EQ(outcome.code, 0) << protocol << ": " << outcome.err;
            return scratch / (name + "-model.h5");
        };
        const auto schedule = scratch / "schedule", other = scratch / "other schedule";
        const auto recorded = run("recorded", {"--record-schedule", schedule, "--checkpoint-every",
                                               "30updates", "--keep-checkpoints", "99"});
        const auto files = checkpoints(scratch / "recorded.h5");
        ASSERT_FALSE(files.empty());
        for (const auto& file : files) {
            const auto name = fs::path(file).stem().string();
            EXPECT_TRUE(same_weights(run("from " + name, {"--replay", schedule, "--resume", file}),
                                     recorded))
                << protocol << " from " << name;
        }
        const auto resumed =
            run("resumed", {"--record-schedule", other, "--resume", files.front()});
        EXPECT_TRUE(same_weights(run("replayed", {"--replay", other}), resumed)) << protocol;
    }
}

// Their part stays as it is, and is in the checkpoint. One worker is so slow that the others finish
// long before the first checkpoint is due.
TEST(Checkpoints, ThereAreSomeAfterWorkersHaveFinished) {
    constexpr int ranks = 3, steps = 60;
    for (const std::string protocol : {"asp", "easgd:tau=3", "adpsgd"}) {
        const Scratch scratch;
        const auto first = scratch / "first.h5", again = scratch / "again.h5";
        const Words slow{"--straggler", "rank=2,slow=200"};
        const auto began = run_wasp(training(first, protocol, ranks, ranks * steps) + slow +
                                    Words{"--checkpoint-every", "0.5seconds"});
        ASSERT_EQ(began.code, 0) << protocol << ": " << began.err;
        const auto from = Words{"--resume", checkpoints(first).back()};
        const auto outcome =
            run_wasp(training(again, protocol, ranks, ranks * steps) + slow + from);
        ASSERT_EQ(outcome.code, 0) << protocol << ": " << outcome.err;
        const auto then = read_results(first), now = read_results(again);
        for (std::size_t rank = 0; rank < ranks; ++rank)
            EXPECT_EQ(now.ranks[rank].samples, then.ranks[rank].samples) << protocol;
    }
}

TEST(Checkpoints, AStoppedRunGoesOnWithResumeAuto) {
    const Scratch scratch;
    const auto out = scratch / "run.h5";
    const Words words{"train",      "--data",     small_data().string(),
                      "--out",      out.string(), "--batch",
                      "16",         "--protocol", "wasp",
                      "--epochs",   "100",        "--lr",
                      "0.001",      "--eval",     "inline",
                      "--progress", "plain",      "--resume",
                      "auto"};
    for (int stops = 0; stops < 2; ++stops) {
        Process process(mpi_words(2, words));
        process.wait_until([&] { return process.out().find("accuracy") != std::string::npos; });
        const auto ranks = process.descendants("wasp");
        ASSERT_EQ(ranks.size(), 2U);
        kill(ranks[static_cast<std::size_t>(stops)], SIGTERM);
        const auto outcome = process.wait();
        ASSERT_EQ(not_refused(outcome, 75, "go on with --resume auto"), "");
        EXPECT_EQ(read_results(out).status, "stopped");
    }
    const auto outcome = run_command(mpi_words(2, words));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto results = read_results(out);
    EXPECT_EQ(results.status, "finished");
    EXPECT_EQ(results.curve.size(), 100U);
    EXPECT_EQ(results.ranks[0].samples + results.ranks[1].samples, 100 * 600);
    EXPECT_EQ(
        not_refused(run_wasp(words + Words{"--cluster", "threads:2"}), 2, "holds a finished run"),
        "");
}

TEST(Checkpoints, TheOneBeforeIsTakenWhereTheNewestIsUnsound) {
    const Scratch scratch;
    const auto out = scratch / "run.h5";
    ASSERT_EQ(run_wasp(training(out, "bsp", 2, 40) + Words{"--checkpoint-every", "2updates"}).code,
              0);
    const auto files = checkpoints(out);
    ASSERT_EQ(files.size(), 2U);
    const auto& newest = files.back();
    const auto sound = bytes_of(files.front()), whole = bytes_of(newest);
    std::string flipped = whole;
    flipped[whole.size() * 3 / 4] ^= 1;
    for (const auto& damaged : {whole.substr(0, whole.size() / 2), std::string(), flipped}) {
        fs::remove(out);
        for (const auto& old : checkpoints(out)) fs::remove(old);
        std::ofstream(files.front(), std::ios::binary) << sound;
        std::ofstream(newest, std::ios::binary) << damaged;
        const auto outcome = run_wasp(training(out, "bsp", 2, 40) + Words{"--resume", "auto"});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_NE(outcome.err.find("trying the one before"), std::string::npos) << outcome.err;
    }
}

TEST(Checkpoints, WhatDoesNotFitTheRunIsRefused) {
    const Scratch scratch;
    const auto out = scratch / "run.h5", other = scratch / "other.h5";
    ASSERT_EQ(run_wasp(training(out, "bsp", 2, 40) + Words{"--checkpoint-every", "2updates"}).code,
              0);
    const auto file = checkpoints(out).back();
    const auto from = Words{"--resume", file};
    const auto refused = [&](const Words& words, const std::string& message) {
        EXPECT_EQ(not_refused(run_wasp(words), 2, message), "");
    };
    refused(training(other, "bsp", 3, 60) + from, "is of 2 ranks, not 3");
    refused(training(other, "asp", 2, 40) + from, "protocol = 'asp'");
    refused(training(other, "bsp", 2, 40) + from + Words{"--lr", "0.5"}, "lr = 0.5");
    refused(training(other, "bsp", 2, 40) + Words{"--resume", small_data()}, "not a checkpoint");
    refused(training(other, "bsp", 2, 40) + Words{"--resume", scratch / "missing.h5"},
            "missing.h5");
    refused(training(other, "bsp", 2, 40) + from + Words{"--unique"}, "--unique");
    for (const char* protocol :
         {"nosync:groups=1,inner=wasp:trigger=versions", "nosync:groups=1,inner=backup"})
        refused(training(other, protocol, 2, 40) + Words{"--checkpoint-every", "1epochs"},
                "has no checkpoints");
    refused(training(other, "bsp", 2, 40) + from + Words{"--record-schedule", scratch / "s"},
            "made without --record-schedule");
    refused(training(other, "bsp", 2, 40) +
                Words{"--replay", scratch / "s", "--checkpoint-every", "1epochs"},
            "leave it out");
    refused({"eval", "--model-file", file, "--data", small_data()}, "is a checkpoint");
    fs::remove(out);
    refused(training(out, "bsp", 2, 40), "checkpoints of an earlier run");
}

TEST(Checkpoints, AProtocolWithoutThemStartsAnewUnlessItsRunIsFinished) {
    const Scratch scratch;
    const auto out = scratch / "run.h5";
    const auto words =
        training(out, "nosync:groups=1,inner=backup", 2, 40) + Words{"--resume", "auto"};
    { const ResultsFile killed(out, IfTaken::refuse); }  // status: running
    const auto outcome = run_wasp(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(read_results(out).status, "finished");
    EXPECT_EQ(not_refused(run_wasp(words), 2, "holds a finished run"), "");
}

}  // namespace
}  // namespace wasp::test
