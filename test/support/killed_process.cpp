#include "support/killed_process.hpp"

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

std::optional<bool> killed_at(int stop, const std::function<void()>& work) {
    const pid_t child = fork();
    if (child < 0) return std::nullopt;
    if (child == 0) be_traced(work);
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return std::nullopt;
    ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_EXITKILL);
    for (int count = 0; count < stop; ++count) {
        if (ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) != 0) break;
        waitpid(child, &status, 0);
        if (!WIFSTOPPED(status)) return false;
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return true;
}

}  // namespace wasp::test
