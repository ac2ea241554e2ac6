// What a run shows while it runs, on terminals and in logs.
#include "report/progress.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "base/error.hpp"

namespace wasp {
namespace {

using namespace std::chrono_literals;

ProgressState halfway() {
    return {.share = 0.25,
            .epoch = 2.5,
            .epochs = 10,
            .seconds = 65,
            .samples_per_second = 51234.4,
            .loss = 0.43212,
            .staleness = 3,
            .accuracy = 0.8812};
}

TEST(ProgressLine, SaysHowFarHowFastHowWellAndHowLong) {
    EXPECT_EQ(progress_line(halfway()),
              "epoch 2.50/10  51234 samples/s  loss 0.4321  staleness 3.0  accuracy 88.12 %  "
              "left 3:15");
}

TEST(ProgressLine, LeavesOutWhatIsNotKnown) {
    auto state = halfway();
    state.share = 0;
    state.staleness = state.accuracy = -1;
    EXPECT_EQ(progress_line(state), "epoch 2.50/10  51234 samples/s  loss 0.4321");
}

TEST(ProgressLine, WarnsWhenTheWallTimeComesFirst) {
    auto state = halfway();
    state.seconds_to_wall_time = 3700;
    EXPECT_EQ(progress_line(state).find("WALL TIME"), std::string::npos);
    state.seconds_to_wall_time = 59;
    EXPECT_NE(progress_line(state).find("WALL TIME in 0:59"), std::string::npos);
    state.seconds = 36000;
    state.seconds_to_wall_time = 3700;
    EXPECT_NE(progress_line(state).find("left 30:00:00  WALL TIME in 1:01:40"), std::string::npos);
}

TEST(ProgressDisplay, UpdatesOneLineOfATerminal) {
    std::ostringstream out;
    {
        ProgressDisplay display("auto", out, true, 200);
        display.show(halfway());
        display.show(halfway());
        display.say("evaluated");
        display.show(halfway());
    }
    const std::string line = progress_line(halfway()), erase = "\r\x1b[K";
    EXPECT_EQ(out.str(), line + erase + line + erase + "evaluated\n" + line + erase);
}

TEST(ProgressDisplay, NeverFillsTheTerminalsLine) {
    for (const int columns : {1, 2, 40, 80}) {
        std::ostringstream out;
        ProgressDisplay display("auto", out, true, columns);
        display.show(halfway());
        EXPECT_LE(out.str().size(), static_cast<std::size_t>(std::max(1, columns - 1)));
    }
}

TEST(ProgressDisplay, WritesLinesToLogsAndWhenAskedTo) {
    for (const auto& [mode, terminal] : {std::pair{"auto", false}, {"plain", true}}) {
        std::ostringstream out;
        ProgressDisplay(mode, out, terminal, 80).show(halfway());
        EXPECT_EQ(out.str(), "   1:05  " + progress_line(halfway()) + "\n");
    }
}

TEST(ProgressDisplay, IsDueAtOnceAndThenOncePerPeriod) {
    std::ostringstream out;
    const auto start = ProgressDisplay::Clock::now() + 1s;
    ProgressDisplay terminal("auto", out, true, 80), log("plain", out, false, 80);
    for (auto* display : {&terminal, &log}) {
        EXPECT_TRUE(display->due(start));
        display->show(halfway(), start);
        EXPECT_FALSE(display->due(start));
    }
    EXPECT_TRUE(terminal.due(start + 200ms));
    EXPECT_FALSE(log.due(start + 9s));
    EXPECT_TRUE(log.due(start + 10s));
}

TEST(ProgressDisplay, IsSilentWhenAskedToButForTheEnd) {
    std::ostringstream out;
    ProgressDisplay display("none", out, true, 80);
    EXPECT_FALSE(display.due(ProgressDisplay::Clock::now() + 24h));
    display.show(halfway());
    display.say("evaluated");
    EXPECT_EQ(out.str(), "");
    display.conclude("RESULT");
    EXPECT_EQ(out.str(), "RESULT\n");
}

TEST(ProgressDisplay, RefusesOtherModes) {
    std::ostringstream out;
    try {
        const ProgressDisplay display("plane", out, false, 80);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        EXPECT_NE(std::string(error.what()).find("did you mean 'plain'"), std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace wasp
