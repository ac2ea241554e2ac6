// `wasp bench`: what it prints can be read by people and scripts. How fast it is is no test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>

#include "support/wasp_program.hpp"

namespace wasp::test {
namespace {

bool reads_as(const std::string& text, const std::string& pattern) {
    return std::regex_search(text, std::regex(pattern));
}

constexpr auto number = "[1-9][0-9]*\\.[0-9]+";

TEST(Benches, StepNamesModelAndImagesASecond) {
    const auto outcome = run_wasp(
        {"bench", "step", "--model", "mlp", "--batch", "8", "--seconds", "0.1", "--threads", "1"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(reads_as(outcome.out,
                         fmt::format("^wasp mlp params=[0-9]+ batch=8 threads=1 isa=[a-z0-9]+: "
                                     "{} images/s mean, {} best, [0-9.]+ ms/step, [0-9]+ % of "
                                     "peak",
                                     number, number)))
        << outcome.out;
}

TEST(Benches, StoreComparesPullsAndPushesWithPlainCopies) {
    const auto outcome = run_wasp(
        {"bench", "store", "--cluster", "threads:2", "--floats", "10000", "--seconds", "0.01"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(reads_as(outcome.out, "\n +10000 +2( +[0-9]+\\.[0-9]+){6}\n$")) << outcome.out;
}

TEST(Benches, ProtocolComparesItWithRanksAlone) {
    for (const char* protocol : {"wasp:period=3", "bsp", "nosync:tau=2"}) {
        const auto outcome =
            run_wasp({"bench", "protocol", "--cluster", "threads:2", "--model", "mlp", "--batch",
                      "4", "--seconds", "0.1", "--protocol", protocol});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_TRUE(reads_as(
            outcome.out,
            fmt::format("^{} mlp params=[0-9]+ batch=4 ranks=2 threads=1: {} images/s, of {} "
                        "alone: [0-9.]+ % \\(median of [0-9]+ pairs\\)\n$",
                        protocol, number, number)))
            << outcome.out;
    }
}

TEST(Benches, ProtocolWithServersIsRefused) {
    const auto outcome =
        run_wasp({"bench", "protocol", "--cluster", "threads:2", "--protocol", "asp:servers=1"});
    EXPECT_EQ(not_refused(outcome, 2, "one without servers can be measured"), "");
}

}  // namespace
}  // namespace wasp::test
