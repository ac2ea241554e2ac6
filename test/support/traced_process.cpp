#include "support/traced_process.hpp"

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace wasp::test {
namespace {

[[noreturn]] void be_traced(const std::function<void()>& work) {
    constexpr int no_tracing = 77;
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(no_tracing);
    raise(SIGSTOP);
    work();
    _exit(0);
}

}  // namespace

std::optional<bool> look_at_every_system_call(const std::function<void()>& work,
                                              const std::function<void()>& look) {
    const pid_t child = fork();
    if (child < 0) return std::nullopt;
    if (child == 0) be_traced(work);
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return std::nullopt;
    ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_EXITKILL);
    while (WIFSTOPPED(status)) {
        look();
        if (ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) != 0) return false;
        waitpid(child, &status, 0);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace wasp::test
