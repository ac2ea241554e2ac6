/// A piece of work in a process of its own that is killed at any moment one likes.
#pragma once

#include <functional>
#include <optional>

namespace wasp::test {

/// Run `work` in a child process and kill it (SIGKILL) when it enters or leaves a system call for
/// the `stop`-th time. What a process does to files it does in system calls, so that the moments
/// 1, 2, 3, … are all there are; none depends on time.
/// True: it was killed. False: it had ended before. Empty: processes can't be traced here.
std::optional<bool> killed_at(int stop, const std::function<void()>& work);

}  // namespace wasp::test
