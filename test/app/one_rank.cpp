// What one process of a job does otherwise than the others: all hear of it, and end.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "support/wasp_program.hpp"

namespace wasp::test {
namespace {

/// Two ranks with words of their own.
Outcome run_two(const Words& first, const Words& second) {
    return run_command(Words{options.mpiexec, "-n", "1"} + wasp_words(first) +
                       Words{":", "-n", "1"} + wasp_words(second));
}

/// What is wrong with an end of all that one line explains.
std::string not_ended_by(const Outcome& outcome, const std::string& message) {
    if (outcome.code != 2) return "exit code " + std::to_string(outcome.code) + outcome.err;
    const auto first = outcome.err.find("wasp: error: ");
    if (first == std::string::npos ||
        outcome.err.find("wasp: error", first + 1) < outcome.err.size())
        return "not one error: " + outcome.err;
    return outcome.err.find(message) == std::string::npos ? message + " is not in " + outcome.err
                                                          : "";
}

TEST(OneRank, ThatFailsBeforeMpiIsHeardAndEndsAll) {
    const Scratch scratch;
    const auto out = scratch / "r.h5";
    const auto good = short_training(out, {"--epochs", "1", "--threads", "1"});
    for (const Words& wrong : {Words{"--bogus"},
                               {"--lr", "fast"},
                               {"--config", "missing.toml"},
                               {"--epochs", "2"},
                               {"--protocol", "wasp:table=missing.txt"},
                               {"--cluster", "threads:2"}}) {
        EXPECT_EQ(not_ended_by(run_two(good, good + wrong), "rank 1 on "), "") << wrong.front();
        EXPECT_EQ(not_ended_by(run_two(good + wrong, good), "rank 0 on "), "") << wrong.front();
    }
    EXPECT_EQ(not_ended_by(run_two(good, {"trian"}), "rank 1 on "), "");
    EXPECT_EQ(not_ended_by(run_two(good, {"bench", "stor"}), "rank 1 on "), "");
    EXPECT_TRUE(scratch.names().empty());
}

TEST(OneRank, WithOtherOptionsIsNamed) {
    const Scratch scratch;
    const auto same = short_training(scratch / "r.h5", {"--epochs", "1"});
    EXPECT_EQ(not_ended_by(run_two(same, same + Words{"--lr", "0.5"}),
                           "rank 0 has 'lr = 0.01', rank 1 has 'lr = 0.5'"),
              "");
    EXPECT_EQ(not_ended_by(run_two(same + Words{"--save-model", (scratch / "m.h5").string()}, same),
                           "rank 0 has 'save-model"),
              "");
    EXPECT_TRUE(scratch.names().empty());
}

// srun and mpiexec also start programs that have nothing to do with one another.
TEST(OneRank, OfACommandWithoutMpiSpeaksForItself) {
    // With 0 at the end, as Open MPI ends the others where one ends otherwise.
    const auto outcome =
        run_command({options.mpiexec, "-n", "3", "sh", "-c",
                     "\"$0\" data check missing${PMI_RANK-$OMPI_COMM_WORLD_RANK}.h5; "
                     "test $? = 2",
                     options.wasp});
    EXPECT_EQ(outcome.code, 0);
    for (const char* name : {"missing0.h5", "missing1.h5", "missing2.h5"})
        EXPECT_NE(outcome.err.find(name), std::string::npos) << outcome.err;
    const auto slurm = run_command({"env", "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2", options.wasp,
                                    "data", "check", "missing.h5"});
    EXPECT_EQ(not_refused(slurm, 2, "missing.h5"), "");
}

}  // namespace
}  // namespace wasp::test
