#include "support/run_command.hpp"

#include <gtest/gtest.h>

namespace wasp::test {
namespace {

TEST(RunCommand, GivesCodeAndBothStreams) {
    const auto outcome = run_command({"sh", "-c", "echo out; echo err >&2; exit 3"});
    EXPECT_EQ(outcome.code, 3);
    EXPECT_EQ(outcome.out, "out\n");
    EXPECT_EQ(outcome.err, "err\n");
}

TEST(RunCommand, KillsWhatTakesTooLongWithAllItStarted) {
    const auto outcome = run_command({"sh", "-c", "echo first; sleep 100 & sleep 100"}, 0.2);
    EXPECT_EQ(outcome.code, 124);
    EXPECT_EQ(outcome.out, "first\n");
}

TEST(RunCommand, SaysWhatCannotBeStarted) {
    EXPECT_ANY_THROW(run_command({"/no/such/program"}));
}

}  // namespace
}  // namespace wasp::test
