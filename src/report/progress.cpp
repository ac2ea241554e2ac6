#include "report/progress.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <limits>

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace wasp {
namespace {

using namespace std::chrono_literals;
constexpr auto terminal_period = 200ms;
constexpr auto log_period = 10s;

bool mode_is_none(std::string_view mode) {
    constexpr std::array<std::string_view, 3> known{"auto", "plain", "none"};
    REQUIRE(std::ranges::find(known, mode) != known.end(), "{}",
            unknown_name("--progress", mode, known));
    return mode == "none";
}

int columns_of_terminal() {
    constexpr int usual = 80;
    winsize size{};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : usual;
}

/// "1:05", "2:00:00"
std::string clock_text(double seconds) {
    constexpr double longest = 1e9;
    const auto whole = static_cast<long>(std::clamp(seconds, 0.0, longest));
    const long hours = whole / 3600, minutes = whole / 60 % 60;
    if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
    return fmt::format("{}:{:02}", minutes, whole % 60);
}

}  // namespace

std::string progress_line(const ProgressState& state) {
    std::string line = fmt::format("epoch {:.2f}/{:g}  {:.0f} samples/s  loss {:.4f}", state.epoch,
                                   state.epochs, state.samples_per_second, state.loss);
    if (state.staleness >= 0) line += fmt::format("  staleness {:.1f}", state.staleness);
    if (state.accuracy >= 0) line += fmt::format("  accuracy {:.2f} %", 100 * state.accuracy);
    const double left = state.share > 0 ? state.seconds * (1 - state.share) / state.share
                                        : std::numeric_limits<double>::infinity();
    if (state.share > 0) line += fmt::format("  left {}", clock_text(left));
    if (state.seconds_to_wall_time >= 0 && state.seconds_to_wall_time < left)
        line += fmt::format("  WALL TIME in {}", clock_text(state.seconds_to_wall_time));
    return line;
}

ProgressDisplay::ProgressDisplay(std::string_view mode, std::ostream& out, bool terminal,
                                 int columns)
    : out_(out),
      silent_(mode_is_none(mode)),
      terminal_(terminal && mode == "auto"),
      columns_(columns),
      next_(silent_ ? Clock::time_point::max() : Clock::now()) {}

ProgressDisplay::ProgressDisplay(std::string_view mode)
    : ProgressDisplay(mode, std::cout, isatty(STDOUT_FILENO) == 1, columns_of_terminal()) {}

ProgressDisplay::~ProgressDisplay() {
    clear_line();
    out_.flush();
}

void ProgressDisplay::show(const ProgressState& state, Clock::time_point now) {
    if (silent_) return;
    std::string line = progress_line(state);
    if (terminal_) {
        // A line that fills the terminal would wrap, and could not be replaced.
        line.resize(std::min(line.size(), static_cast<std::size_t>(std::max(columns_ - 1, 1))));
        clear_line();
        out_ << line;
        line_is_shown_ = true;
    } else {
        out_ << fmt::format("{:>7}  {}\n", clock_text(state.seconds), line);
    }
    out_.flush();
    next_ = now + (terminal_ ? Clock::duration(terminal_period) : Clock::duration(log_period));
}

void ProgressDisplay::say(std::string_view line) {
    if (!silent_) conclude(line);
}

void ProgressDisplay::conclude(std::string_view text) {
    clear_line();
    out_ << text << '\n' << std::flush;
}

void ProgressDisplay::clear_line() {
    constexpr auto back_and_erase = "\r\x1b[K";
    if (line_is_shown_) out_ << back_and_erase;
    line_is_shown_ = false;
}

}  // namespace wasp
