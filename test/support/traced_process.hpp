/// A piece of work in a process of its own that can be looked at in each of its moments.
#pragma once

#include <functional>
#include <optional>

namespace wasp::test {

/// Run `work` in a child process and call look() whenever it enters or leaves a system call that
/// may touch files, where it stands still meanwhile. What a process does to files it does in system
/// calls: look() sees all that kill -9 could leave behind, and nothing depends on time.
/// Returns whether the work came to its end. Empty: processes can't be traced here.
std::optional<bool> look_at_every_system_call(const std::function<void()>& work,
                                              const std::function<void()>& look);

}  // namespace wasp::test
