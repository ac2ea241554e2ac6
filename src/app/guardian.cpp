#include "guardian.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include "report/results_file.hpp"

namespace wasp {

namespace {

constexpr char all_is_well = '\0';  // in no path

std::string read_all(int file) {
    std::string text;
    std::array<char, 4096> part{};
    while (true) {
        const ssize_t count = read(file, part.data(), part.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return text;
        text.append(part.data(), static_cast<std::size_t>(count));
    }
}

/// Whatever ends a job by signals to groups of processes is not meant for this one.
void stand_apart(int pipe) {
    setsid();
    prctl(PR_SET_NAME, "wasp-guardian");
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE})
        std::signal(signal, SIG_IGN);
    const int most = static_cast<int>(sysconf(_SC_OPEN_MAX));
    dup2(pipe, STDIN_FILENO);
    if (close_range(STDOUT_FILENO, static_cast<unsigned>(most), 0) != 0)
        for (int file = STDOUT_FILENO; file < most; ++file) close(file);
}

[[noreturn]] void guard(int pipe) {
    stand_apart(pipe);
    const std::string said = read_all(STDIN_FILENO);
    if (!said.empty() && said.back() != all_is_well) mark_failed(said);
    _exit(0);
}

}  // namespace

Guardian::Guardian() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
    process_ = fork();
    if (process_ == 0) {
        close(ends[1]);
        guard(ends[0]);
    }
    close(ends[0]);
    pipe_ = ends[1];
}

Guardian::~Guardian() {
    if (pipe_ < 0) return;
    tell(&all_is_well, 1);
    close(pipe_);
    if (process_ > 0) waitpid(process_, nullptr, 0);
}

void Guardian::watch(const std::filesystem::path& results) const {
    tell(results.c_str(), results.native().size());
}

/// Without it the status may stay "running": no reason to end a run.
void Guardian::tell(const void* bytes, std::size_t count) const {
    if (pipe_ < 0) return;
    [[maybe_unused]] const ssize_t written = write(pipe_, bytes, count);
}

}  // namespace wasp
