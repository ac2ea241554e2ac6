// --max-time: a run stops with a checkpoint before its time is over, and goes on from there.
#include "../../src/app/time_limit.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "base/failure.hpp"
#include "report/results_file.hpp"
#include "support/wasp_program.hpp"

namespace wasp::test {
namespace {

namespace fs = std::filesystem;

TEST(TimeLimit, Durations) {
    EXPECT_EQ(parse_duration("01:30:00"), 5400);
    EXPECT_EQ(parse_duration("1-12:00:05"), 36 * 3600 + 5);
    EXPECT_EQ(parse_duration("90min"), 5400);
    EXPECT_EQ(parse_duration("1.5h"), 5400);
    EXPECT_EQ(parse_duration("30seconds"), 30);
    for (const std::string wrong : {"", "90", "01:30", "1:2:3:4", "-5min", "0min", "00:00:00",
                                    "5updates", "2 h", "1-2", "auto", "12:00:00pm"})
        EXPECT_TRUE(failure_of([&] { parse_duration(wrong); }).has_value()) << wrong;
    check_time_limit("auto");
}

Words endless(const fs::path& out, const std::string& protocol) {
    return short_training(out, {"--epochs", "1000000000", "--protocol", protocol, "--lr", "0.0001",
                                "--eval-every", "100000updates"});
}

void expect_stopped_in_time(const Outcome& outcome, const fs::path& out) {
    EXPECT_EQ(outcome.code, 75) << outcome.err;
    const auto line = outcome.err.rfind("wasp: error: stopped by --max-time at step ");
    ASSERT_NE(line, std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("before the time is up", line), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("go on with --resume auto", line), std::string::npos);
    EXPECT_EQ(read_results(out).status, "stopped");
    EXPECT_FALSE(fs::is_empty(fs::path(out) += ".ckpt"));
}

TEST(TimeLimit, EndsARunWithACheckpointToGoOnFrom) {
    const Scratch scratch;
    for (const std::string protocol : {"bsp", "asp:servers=1", "nosync"}) {
        const auto out = scratch / (protocol + ".h5");
        const auto words = endless(out, protocol) + Words{"--max-time", "3seconds"};
        const auto first = run_command(mpi_words(3, words));
        expect_stopped_in_time(first, out);
        const auto samples = read_results(out).ranks[2].samples;
        EXPECT_GT(samples, 0);
        const auto second = run_command(mpi_words(3, words + Words{"--resume", "auto"}));
        expect_stopped_in_time(second, out);
        EXPECT_GT(read_results(out).ranks[2].samples, samples);
    }
}

TEST(TimeLimit, WhereThereAreNoCheckpointsTheResultsAreKept) {
    const Scratch scratch;
    const auto out = scratch / "r.h5";
    const auto outcome = run_wasp(endless(out, "nosync:groups=2,inner=backup") +
                                  Words{"--max-time", "1seconds", "--cluster", "threads:4"});
    EXPECT_EQ(outcome.code, 75) << outcome.err;
    EXPECT_EQ(outcome.err.find("--resume"), std::string::npos) << outcome.err;
    EXPECT_EQ(read_results(out).status, "stopped");
}

TEST(TimeLimit, AutoAsksSlurm) {
    const Scratch scratch;
    std::ofstream(scratch / "squeue") << "#!/bin/sh\n[ \"$*\" = '-h -j 17 -o %L' ] && echo 0:03\n";
    fs::permissions(scratch / "squeue", fs::perms::owner_all);
    const auto path = fmt::format("PATH={}:/usr/bin:/bin", scratch.path().string());
    const auto end = fmt::format("SLURM_JOB_END_TIME={}", std::time(nullptr) + 4);
    const auto over = fmt::format("SLURM_JOB_END_TIME={}", std::time(nullptr) - 60);
    int number = 0;
    for (const auto& variables : {Words{end}, Words{over}, Words{"SLURM_JOB_ID=17", path}}) {
        const auto out = scratch / (std::to_string(++number) + ".h5");
        expect_stopped_in_time(
            run_command(Words{"env", "-u", "SLURM_JOB_END_TIME", "-u", "SLURM_JOB_ID"} + variables +
                        wasp_words(endless(out, "bsp") +
                                   Words{"--max-time", "auto", "--cluster", "threads:2"})),
            out);
    }
    const auto without_slurm =
        run_command(Words{"env", "-u", "SLURM_JOB_END_TIME", "-u", "SLURM_JOB_ID"} +
                    wasp_words(endless(scratch / "none.h5", "bsp") +
                               Words{"--max-time", "auto", "--cluster", "threads:2"}));
    EXPECT_EQ(not_refused(without_slurm, 2, "this is no Slurm job"), "");
}

}  // namespace
}  // namespace wasp::test
