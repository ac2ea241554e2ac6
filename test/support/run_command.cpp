#include "support/run_command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "base/stopwatch.hpp"

namespace wasp::test {

namespace {

struct Pipe {
    Pipe() { ENSURE(pipe2(ends.data(), O_CLOEXEC) == 0, "pipe: {}", std::strerror(errno)); }
    std::array<int, 2> ends{};
};

[[noreturn]] void become(const std::vector<std::string>& words, int out, int err) {
    setpgid(0, 0);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
}

}  // namespace

Outcome run_command(const std::vector<std::string>& words, double limit_seconds) {
    const Pipe out;
    const Pipe err;
    const Stopwatch watch;
    const pid_t child = fork();
    ENSURE(child >= 0, "fork: {}", std::strerror(errno));
    if (child == 0) become(words, out.ends[1], err.ends[1]);
    close(out.ends[1]);
    close(err.ends[1]);

    Outcome outcome;
    const std::array<std::string*, 2> texts{&outcome.out, &outcome.err};
    std::array<pollfd, 2> files{pollfd{out.ends[0], POLLIN, 0}, pollfd{err.ends[0], POLLIN, 0}};
    bool late = false;
    while (files[0].fd >= 0 || files[1].fd >= 0) {
        if (!late && watch.seconds() > limit_seconds) {
            late = true;
            kill(-child, SIGKILL);
        }
        poll(files.data(), files.size(), 100);
        for (std::size_t i = 0; i < files.size(); ++i) {
            if (files[i].fd < 0 || files[i].revents == 0) continue;
            std::array<char, 4096> bytes{};
            const ssize_t n = read(files[i].fd, bytes.data(), bytes.size());
            if (n > 0) texts[i]->append(bytes.data(), static_cast<std::size_t>(n));
            if (n == 0) {
                close(files[i].fd);
                files[i].fd = -1;  // poll() leaves it out
            }
        }
    }
    int status = 0;
    waitpid(child, &status, 0);
    outcome.seconds = watch.seconds();
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (late) outcome.code = 124;
    ENSURE(outcome.code != 127 || !outcome.err.empty(), "{} can't be started", words.at(0));
    return outcome;
}

std::string this_program() {
    return std::filesystem::read_symlink("/proc/self/exe").string();
}

}  // namespace wasp::test
