/// Programs that a test starts.
#pragma once

#include <string>
#include <vector>

namespace wasp::test {

struct Outcome {
    int code = 0;  ///< 128 + the signal that ended it; 124: it took too long, and was killed
    std::string out, err;
    double seconds = 0;
};

/// Run it and wait; it has no input. Its whole process group dies when it takes longer than
/// `limit_seconds`.   Error: it can't be started.
Outcome run_command(const std::vector<std::string>& words, double limit_seconds = 60);

/// This test program itself, as a word for run_command().
std::string this_program();

}  // namespace wasp::test
