#include "signals.hpp"

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
    for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGHUP}) sigaction(signal, &action, nullptr);
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
        default:
            return "SIGUSR1";
    }
}

}  // namespace wasp
