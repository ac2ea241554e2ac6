/// Errors: one exception type that carries the exit code of docs/INTERFACE.md, and three macros.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>

namespace wasp {

/// How the program ends.
enum class ExitCode {
    done = 0,
    fault = 1,     ///< our fault, or the machine's
    usage = 2,     ///< bad input or usage; the message says what to do
    diverged = 3,  ///< NaN, or a loss above --max-loss; the results are kept
    stopped = 75,  ///< by a signal or the wall time
};

/// What the program can't go on with. The message is one line: what, where, what to do.
/// Thrown anywhere, caught once, in main().
class Error : public std::runtime_error {
public:
    Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
    ExitCode code() const { return code_; }

private:
    ExitCode code_;
};

}  // namespace wasp

/// Throw unless `condition` holds. For what a user gave us: files, options, specs. Exit code 2.
#define REQUIRE(condition, ...)                                                                   \
    do {                                                                                          \
        if (!(condition)) throw ::wasp::Error(::wasp::ExitCode::usage, fmt::format(__VA_ARGS__)); \
    } while (false)

/// Throw unless `condition` holds. For calls of libraries and the system. Exit code 1.
#define ENSURE(condition, ...)                                                                    \
    do {                                                                                          \
        if (!(condition)) throw ::wasp::Error(::wasp::ExitCode::fault, fmt::format(__VA_ARGS__)); \
    } while (false)

/// Like ENSURE, for our own mistakes on hot paths; compiled out by -DNDEBUG.
#ifdef NDEBUG
#define ASSERT(condition, ...) static_cast<void>(0)
#else
#define ASSERT(condition, ...) ENSURE(condition, "bug: " __VA_ARGS__)
#endif
