#include "time_limit.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>

#include "app/train_config.hpp"
#include "base/error.hpp"
#include "base/spec.hpp"

namespace wasp {

namespace {

constexpr double minute = 60, hour = 3600, day = 24 * hour;

double now() {
    timespec time = {};
    clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Seconds since the process began.
double age() {
    std::ifstream file("/proc/self/stat");
    std::string text(std::istreambuf_iterator<char>(file), {});
    // The name, in parentheses, may hold spaces; the start is the 22nd field, the name the second.
    std::istringstream fields(text.substr(std::min(text.rfind(')'), text.size() - 1) + 1));
    std::string field;
    constexpr int fields_behind_the_name = 20;
    for (int i = 0; i < fields_behind_the_name; ++i) fields >> field;
    const auto ticks = parse_number(field);
    if (!ticks) return 0;
    timespec boot = {};
    clock_gettime(CLOCK_BOOTTIME, &boot);
    return static_cast<double>(boot.tv_sec) - *ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::string first_line_of(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::array<char, 256> line{};
    if (!pipe || std::fgets(line.data(), line.size(), pipe.get()) == nullptr) return {};
    const std::string text = line.data();
    return text.substr(0, text.find('\n'));
}

/// As Slurm writes what is left: [days-]hours:minutes:seconds, or minutes:seconds.
std::optional<double> parse_clock(std::string_view text) {
    static const std::regex form(R"((?:(\d{1,4})-)?(?:(\d{1,4}):)?(\d{1,4}):(\d{1,2}))");
    std::cmatch match;
    if (!std::regex_match(text.begin(), text.end(), match, form)) return std::nullopt;
    const auto part = [&](std::size_t index) {
        return match[index].matched ? static_cast<double>(std::stoi(match[index])) : 0;
    };
    return part(1) * day + part(2) * hour + part(3) * minute + part(4);
}

}  // namespace

double parse_duration(std::string_view text) {
    const auto refuse = [&] {
        throw Error(ExitCode::usage,
                    fmt::format("'{}' must be HH:MM:SS, D-HH:MM:SS, Nseconds, Nmin or Nh", text));
    };
    double seconds = 0;
    if (text.find(':') != std::string_view::npos) {
        const bool whole = std::ranges::count(text, ':') == 2;  // 01:30 could be either
        const auto clock = whole ? parse_clock(text) : std::nullopt;
        if (!clock) refuse();
        seconds = clock.value_or(0);
    } else {
        const auto interval = parse_interval(text);
        if (interval.unit != Interval::Unit::seconds) refuse();
        seconds = interval.count;
    }
    if (!(seconds > 0)) refuse();
    return seconds;
}

void check_time_limit(std::string_view text) {
    if (text != "auto") static_cast<void>(parse_duration(text));
}

std::optional<double> slurm_time_left() {
    if (const char* end = std::getenv("SLURM_JOB_END_TIME")) {
        const auto seconds = parse_number(end);
        REQUIRE(seconds, "--max-time auto: SLURM_JOB_END_TIME is '{}', no number of seconds", end);
        return std::max(*seconds - now(), 0.0);
    }
    const char* job = std::getenv("SLURM_JOB_ID");
    REQUIRE(job != nullptr && parse_whole(job),
            "--max-time auto: this is no Slurm job (neither SLURM_JOB_END_TIME nor SLURM_JOB_ID is "
            "set); give the time");
    const auto left = first_line_of(fmt::format("squeue -h -j {} -o %L 2>/dev/null", job));
    if (left == "UNLIMITED" || left == "NOT_SET") return std::nullopt;
    const auto seconds = parse_clock(left);
    REQUIRE(seconds, "--max-time auto: `squeue -j {} -o %L` says '{}'; give the time", job, left);
    return seconds;
}

TimeLimit::TimeLimit(Cluster& cluster, const std::string& text, double bytes) {
    constexpr double written_in_a_second = 1e8;  // bytes: a guess, on the safe side
    checkpoint_ = bytes / written_in_a_second;
    if (text.empty()) return;
    double left = -1;
    collectively(cluster, [&] {
        if (cluster.rank() != 0) return;
        left = text == "auto" ? slurm_time_left().value_or(-1)
                              : std::max(parse_duration(text) - age(), 0.0);
    });
    cluster.broadcast(std::as_writable_bytes(std::span(&left, 1)), 0);
    if (left >= 0) seconds_ = left;
}

bool TimeLimit::is_up() {
    if (!seconds_ || is_up_) return is_up_;
    const double time = watch_.seconds();
    if (last_ > 0) longest_step_ = std::max(longest_step_, time - last_);
    last_ = time;
    return is_up_ = time + margin() >= *seconds_;
}

void TimeLimit::measured_checkpoint(double seconds) {
    checkpoint_ = is_measured_ ? std::max(checkpoint_, seconds) : seconds;
    is_measured_ = true;
}

double TimeLimit::margin() const {
    constexpr double share = 0.01, most = 10;  // seconds
    const double rest = std::min(share * seconds_.value_or(0), most);
    return 2 * checkpoint_ + 2 * longest_step_ + rest;
}

std::string TimeLimit::text() const {
    return fmt::format(
        "{:.3g} s before the time is up (a checkpoint takes {:.2g} s, {}; the "
        "longest step {:.2g} s)",
        margin(), checkpoint_, is_measured_ ? "measured" : "estimated", longest_step_);
}

}  // namespace wasp
