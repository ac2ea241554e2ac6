// How a run on MPI ends: this program starts itself under mpiexec. The tests whose names begin with
// DISABLED_ are what it then runs.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>

#include "base/error.hpp"
#include "cluster/parameter_store.hpp"
#include "support/on_ranks.hpp"
#include "support/options.hpp"
#include "support/run_command.hpp"

namespace wasp {
namespace {

using test::Outcome;

/// Run one of the scenes below on `ranks` MPI ranks.
Outcome play(int ranks, const std::string& scene, std::vector<std::string> launcher_options = {}) {
    std::vector<std::string> words{test::options.mpiexec};
    words.insert(words.end(), launcher_options.begin(), launcher_options.end());
    for (const auto& word :
         {std::string("-n"), std::to_string(ranks), test::this_program(),
          std::string("--ranks=mpi"), "--gtest_filter=RanksScene.DISABLED_" + scene,
          std::string("--gtest_also_run_disabled_tests"),
          std::string("--gtest_catch_exceptions=0")})
        words.push_back(word);
    return test::run_command(words, 60);
}

/// The lines that we wrote, not the launcher.
std::vector<std::string> errors_in(const Outcome& outcome) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < outcome.err.size();) {
        const std::size_t end = std::min(outcome.err.find('\n', at), outcome.err.size());
        const std::string line = outcome.err.substr(at, end - at);
        if (line.find("wasp: error") != std::string::npos) lines.push_back(line);
        at = end + 1;
    }
    return lines;
}

void forever(Cluster& cluster) {
    wait_until(
        cluster, [] { return false; }, [] { return std::string("the end of time"); });
}

[[noreturn]] void compute() {
    for (std::atomic<int> result = 0;; ++result) {
    }
}

TEST(RanksScene, DISABLED_AllFailAlike) {
    throw Error(ExitCode::usage, "no such model");
}

TEST(RanksScene, DISABLED_OneOfACollectiveFails) {
    const auto window = test::world->make_window(1000);
    collectively(*test::world, [] { REQUIRE(test::world->rank() != 1, "can't read the data"); });
}

TEST(RanksScene, DISABLED_OneFails) {
    const std::vector<float> weights(10'000);
    ParameterStore store(*test::world, weights, test::world->size());
    if (test::world->rank() == 1) throw Error(ExitCode::diverged, "the loss is NaN");
    forever(*test::world);
}

TEST(RanksScene, DISABLED_OneFailsWhileTheOthersCompute) {
    if (test::world->rank() == 1) throw std::runtime_error("odd");
    compute();
}

TEST(RanksScene, DISABLED_OneFailsAfterTheOthersEnded) {
    test::world->barrier();
    if (test::world->rank() == 0) throw Error(ExitCode::usage, "too late");
}

TEST(RanksScene, DISABLED_OneIsKilled) {
    test::world->barrier();
    if (test::world->rank() == 1) kill(getpid(), SIGKILL);
    forever(*test::world);
}

TEST(RanksScene, DISABLED_OneDoesNotCome) {
    test::world->set_stall_seconds(0.3);
    if (test::world->rank() == 1) compute();
    test::world->barrier();
}

TEST(Ending, AnErrorThatAllShareIsSaidOnce) {
    const Outcome outcome = play(4, "AllFailAlike");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err, "wasp: error: no such model\n");
}

TEST(Ending, AnErrorOfOneInACollectiveIsSaidOnce) {
    const Outcome outcome = play(4, "OneOfACollectiveFails");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err, "wasp: error: can't read the data\n");
}

TEST(Ending, AnErrorOfOneEndsAllWithItsCode) {
    const Outcome outcome = play(4, "OneFails");
    EXPECT_EQ(outcome.code, 3);
    ASSERT_EQ(errors_in(outcome).size(), 1U) << outcome.err;
    EXPECT_TRUE(errors_in(outcome)[0].starts_with("wasp: error: rank 1 on "));
    EXPECT_TRUE(errors_in(outcome)[0].ends_with(": the loss is NaN"));
    EXPECT_LT(outcome.seconds, 20);  // far from the 120 s after which the others would give up
}

TEST(Ending, AnErrorOfOneEndsOthersThatCompute) {
    const Outcome outcome = play(2, "OneFailsWhileTheOthersCompute");
    EXPECT_EQ(outcome.code, 1);
    ASSERT_EQ(errors_in(outcome).size(), 1U) << outcome.err;
    EXPECT_TRUE(errors_in(outcome)[0].ends_with(": odd"));
}

TEST(Ending, AnErrorAfterOthersEndedStillCounts) {
    const Outcome outcome = play(4, "OneFailsAfterTheOthersEnded");
    EXPECT_EQ(outcome.code, 2);
    ASSERT_EQ(errors_in(outcome).size(), 1U) << outcome.err;
    EXPECT_TRUE(errors_in(outcome)[0].ends_with(": too late"));
}

TEST(Ending, ARankThatIsKilledEndsAll) {
    const Outcome outcome = play(4, "OneIsKilled");
    EXPECT_NE(outcome.code, 0);
    EXPECT_LT(outcome.seconds, 20);
}

TEST(Ending, ARankThatDoesNotComeIsNamed) {
    const Outcome outcome = play(4, "OneDoesNotCome");
    EXPECT_EQ(outcome.code, 1);
    ASSERT_FALSE(errors_in(outcome).empty()) << outcome.err;
    EXPECT_TRUE(errors_in(outcome)[0].ends_with(
        ": waited 0.3 s for rank 1 to come to a collective operation"))
        << outcome.err;
}

TEST(RanksScene, DISABLED_AllIsWell) {
    Cluster& cluster = *test::world;
    const std::vector<float> weights(100'000);
    ParameterStore store(cluster, weights, cluster.size());
    store.push(1.0F, weights);
    cluster.barrier();
}

// MPICH's MPI_Finalize hangs between nodes in a third of runs or more (mpi_disconnect.cpp).
TEST(Ending, TwentyOfTwentyRunsBetweenTwoNodesEnd) {
    const std::string two_nodes = "test/two_nodes/on_two_nodes.sh";
    if (test::run_command({two_nodes, "--possible"}).code != 0)
        GTEST_SKIP() << "needs root, network namespaces and iproute2";
    for (int run = 1; run <= 20; ++run) {
        const Outcome outcome = test::run_command(
            {two_nodes, test::options.mpiexec, "2", test::this_program(), "--ranks=mpi",
             "--gtest_filter=RanksScene.DISABLED_AllIsWell", "--gtest_also_run_disabled_tests"},
            60);
        ASSERT_EQ(outcome.code, 0) << "run " << run << "\n" << outcome.err;
    }
}

TEST(Ending, SingleRanksOfALargerJobAreRefused) {
    const auto outcome = test::run_command(
        {"env", "SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=0", test::this_program(), "--ranks=mpi"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_TRUE(outcome.err.starts_with("wasp: error: 4 programs of one rank were started"))
        << outcome.err;
    const auto second = test::run_command(
        {"env", "SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=1", test::this_program(), "--ranks=mpi"});
    EXPECT_EQ(second.code, 2);
    EXPECT_EQ(second.err, "");
}

}  // namespace
}  // namespace wasp
