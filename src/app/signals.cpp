#include "signals.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "base/error.hpp"

namespace wasp {

namespace {

std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free);  // a handler may touch no other

void note(int signal) {
    if (received.exchange(signal) != 0) _exit(static_cast<int>(ExitCode::stopped));
}

/// As the kernel has it.
struct KernelAction {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
};
KernelAction hangup_at_start;

/// Before any library's own initialisation: one that MPI brings along takes SIGHUP for itself, even
/// where it was ignored. So early that sanitizers are not there yet: hence the plain system call.
__attribute__((no_sanitize("address", "thread", "undefined"))) void look_at_hangup(int, char**,
                                                                                   char**) {
    syscall(SYS_rt_sigaction, SIGHUP, nullptr, &hangup_at_start, sizeof hangup_at_start.mask);
}
__attribute__((section(".preinit_array"),
               used)) void (*const before_libraries)(int, char**, char**) = look_at_hangup;

void ignore(int signal) {
    struct sigaction action = {};
    action.sa_handler = SIG_IGN;
    sigaction(signal, &action, nullptr);
}

}  // namespace

void expect_limits() {
    ignore(SIGXFSZ);
}

void outlive_terminal() {
    ignore(SIGPIPE);
}

void catch_stop_signals() {
    struct sigaction action = {};
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP})
        sigaction(signal, &action, nullptr);
    if (hangup_at_start.handler == SIG_IGN) ignore(SIGHUP);  // nohup
}

int stop_signal() {
    return received;
}

std::string_view signal_name(int signal) {
    switch (signal) {
        case SIGTERM:
            return "SIGTERM";
        case SIGINT:
            return "SIGINT";
        case SIGHUP:
            return "SIGHUP";
        case SIGUSR2:
            return "SIGUSR2";
        default:
            return "SIGUSR1";
    }
}

}  // namespace wasp
