// Results and model files for people: `wasp results show`, `wasp model show`.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <vector>

#include "collect.hpp"
#include "lookup.hpp"
#include "report/model_file.hpp"
#include "report/tables.hpp"
#include "text_table.hpp"

namespace wasp {
namespace {

/// `factor` times a number of the summary, or a dash.
std::string shown(const Results& results, const std::string& name, int digits, double factor = 1) {
    const auto value = number(results.summary, name);
    return value ? fmt::format("{:.{}f}", factor * *value, digits) : "-";
}

/// Of one of the final models, in percent.
std::string model_accuracy(const Results& results, const std::string& name) {
    for (const auto& row : results.models)
        if (row.name == name && !std::isnan(row.test_accuracy))
            return fmt::format("{:.2f}", 100 * row.test_accuracy);
    return "-";
}

struct ShownColumn {
    const char* heading;
    std::function<std::string(const Results&)> cell;
};

const std::vector<ShownColumn>& shown_columns() {
    constexpr double percent = 100;
    static const std::vector<ShownColumn> columns{
        {"model", [](const Results& r) { return text(r.config, "model"); }},
        {"protocol", [](const Results& r) { return text(r.config, "protocol"); }},
        {"ranks x threads",
         [](const Results& r) {
             return fmt::format("{} x {}", r.ranks.size(),
                                r.ranks.empty() ? 0 : r.ranks.front().threads);
         }},
        {"final %", [](const Results& r) { return shown(r, "final_accuracy", 2, percent); }},
        {"best %", [](const Results& r) { return shown(r, "best_accuracy", 2, percent); }},
        {"target %", [](const Results& r) { return shown(r, "target_accuracy", 2, percent); }},
        {"after s", [](const Results& r) { return shown(r, "time_to_accuracy", 1); }},
        {"after updates", [](const Results& r) { return shown(r, "updates_to_accuracy", 0); }},
        {"after samples", [](const Results& r) { return shown(r, "samples_to_accuracy", 0); }},
        {"ms/update", [](const Results& r) { return shown(r, "seconds_per_update", 3, 1000); }},
        {"samples/s", [](const Results& r) { return shown(r, "samples_per_second", 0); }},
        {"updates", [](const Results& r) { return shown(r, "updates", 0); }},
        {"stale mean", [](const Results& r) { return shown(r, "staleness_mean", 2); }},
        {"p50", [](const Results& r) { return shown(r, "staleness_p50", 0); }},
        {"p95", [](const Results& r) { return shown(r, "staleness_p95", 0); }},
        {"p99", [](const Results& r) { return shown(r, "staleness_p99", 0); }},
        {"max", [](const Results& r) { return shown(r, "staleness_max", 0); }},
        {"step mass", [](const Results& r) { return shown(r, "step_mass", 2); }},
        {"idle %", [](const Results& r) { return shown(r, "idle_share", 1, percent); }},
        {"gap", [](const Results& r) { return shown(r, "train_test_gap", 4); }},
        {"divergence", [](const Results& r) { return shown(r, "divergence_mean", 5); }},
        {"chosen",
         [](const Results& r) { return model_accuracy(r, text(r.summary, "chosen_model")); }},
        {"mean model %", [](const Results& r) { return model_accuracy(r, "mean"); }},
        {"ensemble %", [](const Results& r) { return model_accuracy(r, "ensemble"); }},
        {"disagree %", [](const Results& r) { return shown(r, "disagreement", 2, percent); }}};
    return columns;
}

}  // namespace

RunsTable show_results(std::span<const std::filesystem::path> paths) {
    constexpr std::size_t names = 4;  // file, status, model, protocol
    std::vector<std::string> header{"file", "status"};
    for (const auto& column : shown_columns()) header.emplace_back(column.heading);
    TextTable table(header, names);
    auto shown = collect(paths, [&table](const CollectedRun& run) {
        std::vector<std::string> row{run.file.string(), run.status};
        for (const auto& column : shown_columns()) row.push_back(column.cell(run.results));
        table.add(std::move(row));
    });
    shown.text = table.text();
    return shown;
}

std::string show_model(const std::filesystem::path& file) {
    const auto model = read_model_file(file);
    TextTable table({"tensor", "shape", "numbers"}, 2);
    std::size_t all = 0;
    for (const auto& tensor : model.tensors) {
        table.add({tensor.name, fmt::format("({})", fmt::join(tensor.shape, ", ")),
                   std::to_string(tensor.values.size())});
        all += tensor.values.size();
    }
    table.add({"all", "", std::to_string(all)});
    return fmt::format("model {}, images ({}, {}, {}), {} classes\nscale {}\nshift {}\n\n{}",
                       model.model, model.channels, model.height, model.width, model.classes,
                       fmt::join(model.scale, " "), fmt::join(model.shift, " "), table.text());
}

}  // namespace wasp
