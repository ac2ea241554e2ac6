#include <fmt/format.h>

#include <array>
#include <cmath>

#include "lookup.hpp"
#include "report/tables.hpp"

namespace wasp {
namespace {

constexpr double percent = 100;

double value_of(const Results& results, const std::string& name) {
    return number(results.summary, name).value_or(std::nan(""));
}

std::string accuracy(const Results& results) {
    const double last = value_of(results, "final_accuracy");
    if (std::isnan(last)) return "not evaluated";
    return fmt::format("{:.2f} %, best {:.2f} %, test loss {:.4f}", percent * last,
                       percent * value_of(results, "best_accuracy"),
                       value_of(results, "final_loss"));
}

std::string target(const Results& results) {
    const double seconds = value_of(results, "time_to_accuracy");
    return fmt::format(
        "{:.2f} % {}", percent * value_of(results, "target_accuracy"),
        std::isnan(seconds) ? "not reached" : fmt::format("reached after {:.2f} s", seconds));
}

/// 1234567 B: "1.23 MB"
std::string bytes(double count) {
    constexpr std::array units{"B", "kB", "MB", "GB", "TB", "PB"};
    std::size_t unit = 0;
    for (constexpr double step = 1000; count >= step && unit + 1 < units.size(); ++unit)
        count /= step;
    return fmt::format("{:.{}f} {}", count, unit == 0 ? 0 : 2, units[unit]);
}

std::string table(const Results& results) {
    const auto value = [&](const char* name) { return value_of(results, name); };
    std::string lines;
    const auto add = [&](const char* name, const std::string& text) {
        lines += fmt::format("{:<12} {}\n", name, text);
    };
    add("accuracy", accuracy(results));
    if (!std::isnan(value("target_accuracy"))) add("target", target(results));
    add("speed",
        fmt::format("{:.0f} samples/s: {:.0f} samples in {:.2f} s", value("samples_per_second"),
                    value("samples"), value("training_seconds")));
    add("updates",
        fmt::format("{:.0f}, dropped gradients {:.0f}, step mass {:.2f} (sum of the "
                    "weights of {:.0f} updates; BSP has 1)",
                    value("updates"), value("dropped"), value("step_mass"), value("workers")));
    add("staleness",
        fmt::format("mean {:.2f}, median {:.0f}, 95 % {:.0f}, 99 % {:.0f}, largest {:.0f}",
                    value("staleness_mean"), value("staleness_p50"), value("staleness_p95"),
                    value("staleness_p99"), value("staleness_max")));
    add("idle", fmt::format("{:.1f} % of the workers' time", percent * value("idle_share")));
    add("moved", bytes(value("bytes")));
    return lines;
}

/// Keys are as in the file, so that programs need to know one list only; the path is the last, as
/// it may hold spaces.
std::string result_line(const Results& results, const std::filesystem::path& file) {
    std::string line =
        fmt::format("RESULT status={} ranks={}", results.status, results.ranks.size());
    for (const auto* name : {"model", "protocol", "batch", "lr", "seed"})
        if (const auto value = text(results.config, name); !value.empty())
            line += fmt::format(" {}={}", name, value);
    for (const auto* name : {"samples", "updates", "training_seconds", "samples_per_second",
                             "final_accuracy", "best_accuracy", "final_loss", "target_accuracy",
                             "reached", "time_to_accuracy", "staleness_mean", "staleness_p95",
                             "staleness_max", "step_mass", "idle_share", "bytes", "dropped"}) {
        const auto value = text(results.summary, name);
        line += fmt::format(" {}={}", name, value.empty() ? "nan" : value);
    }
    return line + " file=" + file.string();
}

}  // namespace

std::string final_report(const Results& results, const std::filesystem::path& file) {
    return table(results) + result_line(results, file);
}

}  // namespace wasp
