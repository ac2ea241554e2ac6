#include "reading_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <utility>

namespace wasp {

using namespace std::chrono_literals;

ReadingProgress::ReadingProgress(std::string file, std::size_t bytes, std::ostream& out,
                                 bool terminal)
    : file_(std::move(file)),
      all_(std::max<std::size_t>(bytes, 1)),
      out_(out),
      terminal_(terminal),
      next_(Clock::now() + 1s) {}

ReadingProgress::ReadingProgress(std::string file, std::size_t bytes)
    : ReadingProgress(std::move(file), bytes, std::cerr, isatty(STDERR_FILENO) == 1) {}

ReadingProgress::~ReadingProgress() {
    constexpr auto wipe_out = "\r\x1b[K";
    if (terminal_ && shown_) out_ << wipe_out << std::flush;
}

void ReadingProgress::add(std::size_t bytes, Clock::time_point now) {
    read_ += bytes;
    if (now < next_) return;
    constexpr std::size_t megabyte = 1'000'000;
    const auto text =
        fmt::format("reading {}: {} of {} MB", file_, read_ / megabyte, all_ / megabyte);
    if (terminal_)
        out_ << '\r' << text << std::flush;
    else
        out_ << "wasp: " << text << '\n' << std::flush;
    shown_ = true;
    next_ = now + (terminal_ ? Clock::duration(200ms) : Clock::duration(10s));
}

}  // namespace wasp
