/// What a run says while it runs. On a terminal one line that updates, in a log a line every ten
/// seconds.
#pragma once

#include <chrono>
#include <ostream>
#include <string>
#include <string_view>

namespace wasp {

struct ProgressState {
    double share = 0;  ///< of the run that is done, 0…1
    double epoch = 0, epochs = 0;
    double seconds = 0;  ///< of training
    double samples_per_second = 0;
    double loss = 0, staleness = 0;    ///< means of late; staleness below 0: not shown
    double accuracy = -1;              ///< at the last evaluation; below 0: none yet
    double seconds_to_wall_time = -1;  ///< below 0: no limit is known
};

/// "epoch 1.50/10  51234 samples/s  loss 0.4321  staleness 3.0  accuracy 88.12 %  left 1:05"
std::string progress_line(const ProgressState& state);

class ProgressDisplay {
public:
    using Clock = std::chrono::steady_clock;

    /// mode: auto (a terminal's line if `terminal`, else a log's lines) | plain (a log's) | none.
    /// columns: of the terminal.   Error: another mode.
    ProgressDisplay(std::string_view mode, std::ostream& out, bool terminal, int columns);

    /// On standard output, as it is.
    explicit ProgressDisplay(std::string_view mode);

    /// Clears the line it left on a terminal.
    ~ProgressDisplay();
    ProgressDisplay(const ProgressDisplay&) = delete;
    ProgressDisplay& operator=(const ProgressDisplay&) = delete;

    /// Whether it is time to show something: cheap, to be asked at every step.
    bool due(Clock::time_point now = Clock::now()) const { return now >= next_; }

    void show(const ProgressState& state, Clock::time_point now = Clock::now());

    /// A line that stays, e.g. about an evaluation. Not in mode none.
    void say(std::string_view line);

    /// The end of the run, in every mode.
    void conclude(std::string_view text);

private:
    void clear_line();

    std::ostream& out_;
    bool silent_, terminal_;
    int columns_;
    bool line_is_shown_ = false;
    Clock::time_point next_;
};

}  // namespace wasp
