// `wasp doctor`, and what `wasp train` refuses or says at its start. How fast anything is is no
// test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>
#include <thread>

#include "support/wasp_program.hpp"

namespace wasp::test {
namespace {

const Words quickly{"doctor", "--seconds", "0.01"};

bool reads_as(const std::string& text, const std::string& pattern) {
    return std::regex_search(text, std::regex(pattern));
}

TEST(Doctor, SaysWhatRanksNodesAndTrafficAreLike) {
    const auto outcome = run_command(mpi_words(2, quickly + Words{"--threads", "1"}));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    for (const char* pattern :
         {"(MPICH|Open MPI).*4.*: 2 rank\\(s\\) on 1 node\\(s\\)\n",
          "launcher: mpiexec, 2 process\\(es\\), PMIx?\n", "\n +1 +0 +[^ ]+ +[0-9]+ +1 +[0-9,-]+\n",
          "processor: .+\\(.*avx", "kernels: .* avx", "topology: [0-9]+ socket",
          "/dev/shm [0-9.]+ GB", "limits: address space", "results in '\\.': can be written",
          "updates: 400 of 2 ranks.*: none is lost, none is torn",
          "answers another after [0-9.]+ ms", "own memory.* [0-9.]+ +[0-9.]+  GB/s",
          "rank of the same node +[0-9.]+ +[0-9.]+  GB/s", "Verdict\n"})
        EXPECT_TRUE(reads_as(outcome.out, pattern)) << pattern << " in\n" << outcome.out;
    EXPECT_EQ(outcome.out.find("BAD"), std::string::npos) << outcome.out;
}

TEST(Doctor, NeedsNoLauncher) {
    const auto alone = run_wasp(quickly);
    EXPECT_EQ(alone.code, 0) << alone.err;
    // Open MPI starts a launcher itself for who has none.
    EXPECT_TRUE(reads_as(alone.out, "launcher: (none|mpiexec, 1 process)")) << alone.out;
    const auto threads = run_wasp(quickly + Words{"--cluster", "threads:3"});
    EXPECT_EQ(threads.code, 0) << threads.err;
    EXPECT_TRUE(reads_as(threads.out, "3 rank\\(s\\) on 1 node\\(s\\)")) << threads.out;
}

TEST(Doctor, StrictEndsWithCode1WhereTrainingWouldFail) {
    const Words bad = quickly + Words{"--strict", "--folder", "/no/such/folder"};
    const auto outcome = run_wasp(bad);
    EXPECT_EQ(not_refused(outcome, 1, "--strict"), "");
    EXPECT_TRUE(reads_as(outcome.out, "BAD: .*'/no/such/folder'")) << outcome.out;
    EXPECT_EQ(run_wasp(quickly + Words{"--folder", "/no/such/folder"}).code, 0);
    const auto many = run_wasp(quickly + Words{"--strict", "--threads", "1000"});
    EXPECT_EQ(not_refused(many, 1, "--strict"), "");
    EXPECT_TRUE(reads_as(many.out, "BAD: rank 0 on .* has 1000 threads")) << many.out;
}

/// Two ranks that are bound to the first core.
Words on_one_core(const Words& arguments) {
    return Words{"taskset", "-c", "0"} + mpi_words(2, arguments);
}

TEST(Doctor, RanksThatAreBoundToOneCoreAreRefused) {
    if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "there is only one core";
    const Scratch scratch;
    const auto outcome = run_command(on_one_core(quickly + Words{"--strict"}));
    EXPECT_EQ(not_refused(outcome, 1, "--strict"), "");
    EXPECT_TRUE(reads_as(outcome.out, "BAD: all 2 ranks on .* are bound to one core"))
        << outcome.out;
    const auto training =
        run_command(on_one_core(short_training(scratch / "r.h5", {"--epochs", "1"})));
    EXPECT_EQ(not_refused(training, 2, "all 2 ranks on "), "");
    EXPECT_TRUE(scratch.names().empty());
}

TEST(Doctor, TrainSaysWhenThreadsTakeTurnsOnCores) {
    const Scratch scratch;
    const auto ranks = std::to_string(2 * std::thread::hardware_concurrency());
    const auto crowded = run_wasp(short_training(
        scratch / "r.h5", {"--epochs", "1", "--threads", "1", "--cluster", "threads:" + ranks}));
    EXPECT_EQ(crowded.code, 0) << crowded.err;
    EXPECT_TRUE(reads_as(crowded.out, ranks + " rank\\(s\\) with 1 thread\\(s\\) each take turns"))
        << crowded.out;
    const auto alone = run_wasp(short_training(scratch / "s.h5", {"--epochs", "1"}));
    EXPECT_EQ(alone.out.find("take turns"), std::string::npos) << alone.out;
}

}  // namespace
}  // namespace wasp::test
