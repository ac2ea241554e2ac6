/// Wall time of a piece of work on this rank.
#pragma once

#include <chrono>

namespace wasp {

class Stopwatch {
public:
    /// Since construction or the last lap().
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    /// seconds(), and start anew.
    double lap() {
        const auto now = Clock::now();
        const double passed = std::chrono::duration<double>(now - start_).count();
        start_ = now;
        return passed;
    }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

}  // namespace wasp
