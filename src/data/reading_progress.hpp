/// Private to src/data/: that a large file is being read, and how far.
#pragma once

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <string>

namespace wasp {

/// Silent for the first second. Then, on a terminal, one line that is renewed and wiped out in the
/// end; elsewhere a line every ten seconds.
class ReadingProgress {
public:
    using Clock = std::chrono::steady_clock;

    /// bytes: in all.
    ReadingProgress(std::string file, std::size_t bytes, std::ostream& out, bool terminal);
    /// On standard error.
    ReadingProgress(std::string file, std::size_t bytes);
    ReadingProgress(const ReadingProgress&) = delete;
    ReadingProgress& operator=(const ReadingProgress&) = delete;
    ~ReadingProgress();

    /// `bytes` more have been read.
    void add(std::size_t bytes, Clock::time_point now = Clock::now());

private:
    std::string file_;
    std::size_t all_, read_ = 0;
    std::ostream& out_;
    bool terminal_, shown_ = false;
    Clock::time_point next_;
};

}  // namespace wasp
