// A run that was stopped goes on as if nothing had been; what can't go on is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
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

/// 20 steps of each rank.
Words training(const fs::path& out, const std::string& protocol, int ranks) {
    return {"train",
            "--data",
            small_data().string(),
            "--out",
            out.string(),
            "--protocol",
            protocol,
            "--cluster",
            fmt::format("threads:{}", ranks),
            "--threads",
            "1",
            "--model",
            "mlp-dropout",
            "--batch",
            "8",
            "--updates",
            std::to_string(20 * ranks),
            "--lr-schedule",
            "cosine",
            "--eval",
            "none",
            "--progress",
            "none"};
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
};

TEST(Checkpoints, SynchronousRunsGoOnBitForBitFromEveryCheckpoint) {
    for (const auto& [protocol, ranks] :
         {Case{"serial", 1}, Case{"bsp"}, Case{"localsgd:H=3"}, Case{"slowmo:H=4"},
          Case{"nosync:exchange=sendrecv,tau=3,target=random"}}) {
        const Scratch scratch;
        const auto whole = scratch / "whole.h5";
        const auto model = scratch / "whole-model.h5";
        const auto every = fmt::format("{}updates", ranks);
        const auto undisturbed = run_wasp(
            training(whole, protocol, ranks) +
            Words{"--checkpoint-every", every, "--keep-checkpoints", "99", "--save-model", model});
        ASSERT_EQ(undisturbed.code, 0) << undisturbed.err;
        const auto files = checkpoints(whole);
        EXPECT_GE(files.size(), 3U) << protocol;
        for (std::size_t i = 0; i < files.size(); ++i) {
            const auto again = scratch / fmt::format("{}.h5", i);
            const auto model_again = scratch / fmt::format("{}-model.h5", i);
            const auto outcome = run_wasp(training(again, protocol, ranks) +
                                          Words{"--resume", files[i], "--save-model", model_again});
            ASSERT_EQ(outcome.code, 0) << protocol << ": " << outcome.err;
            EXPECT_TRUE(same_weights(model_again, model)) << protocol << " from " << files[i];
            const auto results = read_results(again);
            for (const auto& rank : results.ranks) {
                EXPECT_EQ(rank.samples, 20 * 8);
                EXPECT_EQ(rank.steps.size(), 20U);
            }
        }
    }
}

TEST(Checkpoints, EveryProtocolGoesOnAndLosesNoUpdate) {
    for (const std::string protocol : {"asp",
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

                                       "wasp:servers=1",
                                       "wasp:node_sum=on"}) {
        const Scratch scratch;
        constexpr int ranks = 3;
        const int used = protocol.find("groups") == std::string::npos ? ranks : 4;
        const int workers = protocol.find("servers") == std::string::npos ? used : used - 1;
        const auto first = scratch / "first.h5";
        const auto planned = std::to_string(20 * workers);
        auto words = training(first, protocol, used);
        std::ranges::replace(words, std::to_string(20 * used), planned);
        const auto began =
            run_wasp(words + Words{"--checkpoint-every", fmt::format("{}updates", 7 * workers)});
        ASSERT_EQ(began.code, 0) << protocol << ": " << began.err;
        const auto files = checkpoints(first);
        ASSERT_FALSE(files.empty()) << protocol;

        const auto again = scratch / "again.h5";
        std::ranges::replace(words, first.string(), again.string());
        const auto outcome = run_wasp(words + Words{"--resume", files.front()});
        ASSERT_EQ(outcome.code, 0) << protocol << ": " << outcome.err;
        const auto then = read_results(first), now = read_results(again);
        EXPECT_EQ(now.status, "finished");
        std::int64_t updates = 0, dropped = 0, samples = 0, updates_then = 0, dropped_then = 0;
        for (const auto& rank : now.ranks) {
            samples += rank.samples, updates += rank.updates, dropped += rank.dropped;
            std::int64_t pushes = 0;
            for (const auto count : rank.staleness) pushes += count;
            EXPECT_EQ(pushes, rank.updates) << protocol;
        }
        for (const auto& rank : then.ranks)
            updates_then += rank.updates, dropped_then += rank.dropped;
        EXPECT_EQ(samples, 20 * 8 * workers) << protocol;
        EXPECT_EQ(updates + dropped, updates_then + dropped_then) << protocol;
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
    ASSERT_EQ(run_wasp(training(out, "bsp", 2) + Words{"--checkpoint-every", "2updates"}).code, 0);
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
        const auto outcome = run_wasp(training(out, "bsp", 2) + Words{"--resume", "auto"});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_NE(outcome.err.find("trying the one before"), std::string::npos) << outcome.err;
    }
}

TEST(Checkpoints, WhatDoesNotFitTheRunIsRefused) {
    const Scratch scratch;
    const auto out = scratch / "run.h5", other = scratch / "other.h5";
    ASSERT_EQ(run_wasp(training(out, "bsp", 2) + Words{"--checkpoint-every", "2updates"}).code, 0);
    const auto file = checkpoints(out).back();
    const auto from = Words{"--resume", file};
    const auto refused = [&](const Words& words, const std::string& message) {
        EXPECT_EQ(not_refused(run_wasp(words), 2, message), "");
    };
    refused(training(other, "bsp", 3) + from, "is of 2 ranks, not 3");
    refused(training(other, "asp", 2) + from, "protocol = 'asp'");
    refused(training(other, "bsp", 2) + from + Words{"--lr", "0.5"}, "lr = 0.5");
    refused(training(other, "bsp", 2) + Words{"--resume", small_data()}, "not a checkpoint");
    refused(training(other, "bsp", 2) + Words{"--resume", scratch / "missing.h5"}, "missing.h5");
    refused(training(other, "bsp", 2) + from + Words{"--unique"}, "--unique");
    for (const char* protocol : {"backup", "wasp:trigger=versions", "nosync:groups=1,inner=backup"})
        refused(training(other, protocol, 2) + Words{"--checkpoint-every", "1epochs"},
                "has no checkpoints");
    refused({"eval", "--model-file", file, "--data", small_data()}, "is a checkpoint");
    fs::remove(out);
    refused(training(out, "bsp", 2), "checkpoints of an earlier run");
}

}  // namespace
}  // namespace wasp::test
