/// Tests of the program as a user starts it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/options.hpp"
#include "support/run_command.hpp"
#include "support/scratch.hpp"

namespace wasp::test {

using Words = std::vector<std::string>;

inline Words operator+(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

/// `wasp …`
inline Words wasp_words(const Words& arguments) {
    return Words{options.wasp} + arguments;
}

/// `mpiexec -n ranks wasp …`
inline Words mpi_words(int ranks, const Words& arguments) {
    return Words{options.mpiexec, "-n", std::to_string(ranks)} + wasp_words(arguments);
}

inline Outcome run_wasp(const Words& arguments) {
    return run_command(wasp_words(arguments));
}

/// 600 + 200 images of 16 × 16 in four classes, made once.
const std::filesystem::path& small_data();

/// A training run on them, into `out`, that is over in a moment: some epochs of small batches.
Words short_training(const std::filesystem::path& out, const Words& more = {});

/// What is wrong with `outcome`, which should be a refusal: exit code `code` and one line on
/// standard error that starts with "wasp: error: " and contains `message`. Empty: nothing.
std::string not_refused(const Outcome& outcome, int code, const std::string& message);

}  // namespace wasp::test
