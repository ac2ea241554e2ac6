#include "support/process.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace wasp::test {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto tag_name = "WASP_TEST_PROCESS";

std::string content(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void redirect(int stream, const std::string& path) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || dup2(file, stream) < 0) _exit(127);
}

/// In the new process, before the program starts there.
void prepare(const ProcessSetup& setup, const std::string& out, const std::string& err,
             const std::string& tag) {
    redirect(STDOUT_FILENO, out);
    redirect(STDERR_FILENO, err);
    setenv(tag_name, tag.c_str(), 1);
    if (setup.largest_file) {
        const rlimit limit{*setup.largest_file, *setup.largest_file};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
}

}  // namespace

Process::Process(const std::vector<std::string>& words, const ProcessSetup& setup)
    : tag_(scratch_.path().string()), patience_(setup.patience) {
    std::vector<std::string> copies = words;
    std::vector<char*> arguments;
    for (auto& word : copies) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string out = (scratch_ / "out").string(), err = (scratch_ / "err").string();
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("no new process");
    if (pid_ > 0) return;
    prepare(setup, out, err, tag_);
    execvp(arguments[0], arguments.data());
    _exit(127);
}

Process::~Process() {
    do kill_all();
    while (!ended());
}

std::string Process::out() const {
    return content(scratch_ / "out");
}

std::string Process::err() const {
    return content(scratch_ / "err");
}

std::vector<int> Process::descendants(const std::string& name) const {
    std::vector<int> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const auto number = entry.path().filename().string();
        if (!std::ranges::all_of(number, [](unsigned char c) { return std::isdigit(c) != 0; }))
            continue;
        const auto variables = content(entry.path() / "environ");
        if (variables.find(std::string(tag_name) + "=" + tag_) == std::string::npos) continue;
        auto program = content(entry.path() / "comm");
        if (!name.empty() && program != name + "\n") continue;
        found.push_back(std::stoi(number));
    }
    return found;
}

bool Process::gone_within(double seconds, const std::string& name) const {
    const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
    while (!descendants(name).empty()) {
        if (Clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

void Process::send(int signal) {
    kill(pid_, signal);
}

bool Process::ended() {
    if (status_) return true;
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) != pid_) return false;
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

void Process::kill_all() {
    if (!ended()) kill(pid_, SIGKILL);
    for (const int pid : descendants()) kill(pid, SIGKILL);
}

void Process::wait_until(const std::function<bool()>& condition) {
    const auto deadline = Clock::now() + std::chrono::duration<double>(patience_);
    while (!condition()) {
        if (ended()) throw std::runtime_error("the program ended too early: " + err());
        if (Clock::now() > deadline) throw std::runtime_error("waited in vain: " + err());
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

Outcome Process::wait() {
    const auto deadline = Clock::now() + std::chrono::duration<double>(patience_);
    Outcome result;
    bool in_time = true;
    while (!ended()) {
        if (Clock::now() > deadline) {
            in_time = false;
            kill_all();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    constexpr int too_late = 124;
    result.code = in_time ? *status_ : too_late;
    result.out = out();
    result.err = err();
    return result;
}

}  // namespace wasp::test
