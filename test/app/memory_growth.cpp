// Training takes no more memory the longer it goes on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/wasp_program.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace wasp::test {
namespace {

/// The most bytes that were allocated at a time: see test/preload/heap.c.
long peak_of_run(const std::string& protocol, int updates) {
    const Scratch scratch;
    const auto library = std::filesystem::path(this_program()).parent_path() / "heap.so";
    constexpr double limit = 300;        // seconds
    constexpr int rows = 10, ranks = 2;  // of /steps, however long the run is
    const auto outcome = run_command(
        Words{"env", "LD_PRELOAD=" + library.string(), "HEAP_PEAK=" + (scratch / "peak").string()} +
            wasp_words({"train",
                        "--data",
                        small_data(),
                        "--out",
                        scratch / "r.h5",
                        "--cluster",
                        fmt::format("threads:{}", ranks),
                        "--threads",
                        "1",
                        "--model",
                        "mlp",
                        "--batch",
                        "1",
                        "--eval",
                        "none",
                        "--progress",
                        "none",
                        "--lr",
                        "0.001",
                        "--updates",
                        std::to_string(updates),
                        "--record-every",
                        std::to_string(updates / ranks / rows),
                        "--protocol",
                        protocol}),
        limit);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    long peak = 0;
    std::ifstream(scratch / "peak") >> peak;
    return peak;
}

TEST(Memory, TenThousandUpdatesTakeNoMoreThanTwoThousand) {
    for (const std::string protocol : {"bsp", "asp", "wasp:period=20", "nosync"}) {
        const long few = peak_of_run(protocol, 2000), many = peak_of_run(protocol, 12000);
        ASSERT_GT(few, 1'000'000) << protocol;
        EXPECT_LT(many - few, 100'000) << protocol;  // a histogram of staleness may get longer
    }
}

}  // namespace
}  // namespace wasp::test

#endif
