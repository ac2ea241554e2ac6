/// Programs that a test talks to while they run: run_command() is for those that just end.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/run_command.hpp"
#include "support/scratch.hpp"

namespace wasp::test {

struct ProcessSetup {
    std::optional<std::size_t> largest_file;  ///< bytes; writing more fails, as on a full disk
    double patience = 120;                    ///< seconds
};

/// A program that runs. Killed, with all that it started, when this object goes.
class Process {
public:
    /// words: the program, found by PATH, and its arguments.
    explicit Process(const std::vector<std::string>& words, const ProcessSetup& setup = {});
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;
    ~Process();

    std::string out() const;  ///< so far
    std::string err() const;

    /// The processes it started, itself too, that are still there. Only those named `name`, if one
    /// is given.
    std::vector<int> descendants(const std::string& name = "") const;
    /// Whether they are all gone within that time.
    bool gone_within(double seconds, const std::string& name = "") const;
    void send(int signal);  ///< to the program itself

    /// Returns when condition() holds.   Error: the program ended, or patience did.
    void wait_until(const std::function<bool()>& condition);
    /// Wait for its end; code 124: it took too long, and was killed.
    Outcome wait();

private:
    bool ended();
    void kill_all();

    Scratch scratch_;
    std::string tag_;  // in the environment of all that it starts
    double patience_;
    int pid_ = -1;
    std::optional<int> status_;
};

}  // namespace wasp::test
