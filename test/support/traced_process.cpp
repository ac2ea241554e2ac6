#include "support/traced_process.hpp"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

/// Of memory only: sanitizers add thousands of these.
bool touches_no_file(pid_t child) {
    constexpr std::array calls{SYS_mmap, SYS_munmap, SYS_madvise, SYS_mprotect, SYS_brk};
    user_regs_struct registers{};
    ptrace(PTRACE_GETREGS, child, nullptr, &registers);
    return std::ranges::find(calls, static_cast<long>(registers.orig_rax)) != calls.end();
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
        if (!touches_no_file(child)) look();
        if (ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) != 0) return false;
        waitpid(child, &status, 0);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace wasp::test
