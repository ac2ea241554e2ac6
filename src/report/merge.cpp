// Runs for programs: `wasp results merge`, a row of comma-separated values each.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "collect.hpp"
#include "csv_cells.hpp"
#include "lookup.hpp"
#include "report/summary.hpp"

namespace wasp {
namespace {

using Cells = std::map<std::string, std::string>;

/// Of all ranks together.
constexpr std::array<std::pair<const char*, double RankRow::*>, 6> times{
    {{"compute_seconds", &RankRow::compute},
     {"pull_seconds", &RankRow::pull},
     {"push_seconds", &RankRow::push},
     {"wait_seconds", &RankRow::wait},
     {"poll_seconds", &RankRow::poll},
     {"data_seconds", &RankRow::data}}};
/// Of /provenance.
constexpr std::array origins{"hosts", "start_time", "git_commit", "slurm_job_id", "dataset_sha256"};

/// Columns that are always there come in this order, with the summary behind.
const std::vector<std::string>& first_columns() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all{"file", "status", "fault", "ranks", "threads", "nodes"};
        all.insert(all.end(), csv::run_options.begin(), csv::run_options.end());
        for (const auto& [name, value] : as_attributes(Summary{})) all.push_back(name);
        for (const auto& [name, seconds] : times) all.emplace_back(name);
        all.insert(all.end(), origins.begin(), origins.end());
        return all;
    }();
    return names;
}

double sum(const std::vector<RankRow>& ranks, double RankRow::*seconds) {
    double all = 0;
    for (const auto& rank : ranks) all += rank.*seconds;
    return all;
}

/// Options as columns: those that say which run it is by their names, the others as option_NAME,
/// as some are named like what came out ('updates').
void add_options(const Attributes& config, Cells& cells) {
    static const std::set<std::string> whole{"toml", "command_line"};
    for (const auto& [name, value] : config) {
        if (whole.contains(name)) continue;
        const bool plain = std::ranges::find(csv::run_options, name) != csv::run_options.end();
        std::string column = plain ? name : "option_" + name;
        std::ranges::replace(column, '-', '_');
        cells[column] = csv::cell(text(config, name));
    }
}

Cells cells_of(const CollectedRun& run) {
    Cells cells{{"file", csv::cell(run.file.string())},
                {"status", csv::cell(run.status)},
                {"fault", csv::cell(run.fault)}};
    const auto& results = run.results;
    const auto& ranks = results.ranks;
    add_options(results.config, cells);
    cells["nodes"] = csv::cell(text(results.provenance, "nodes"));
    for (const auto* name : origins) cells[name] = csv::cell(text(results.provenance, name));
    for (const auto& [name, value] : results.summary)
        cells[name] = csv::cell(text(results.summary, name));
    for (const auto& model : results.models)
        if (!model.name.starts_with("rank "))
            cells["accuracy_of_" + model.name] = csv::cell(model.test_accuracy);
    if (ranks.empty()) return cells;
    cells["ranks"] = csv::cell(ranks.size());
    cells["threads"] = csv::cell(ranks.front().threads);
    for (const auto& [name, seconds] : times) cells[name] = csv::cell(sum(ranks, seconds));
    return cells;
}

void add_line(const std::vector<std::string>& columns, const Cells& cells, std::string& text) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto found = cells.find(columns[i]);
        if (i > 0) text += ',';
        if (found != cells.end()) text += found->second;
    }
    text += '\n';
}

}  // namespace

RunsTable merge_results(std::span<const std::filesystem::path> paths) {
    std::vector<Cells> rows;
    auto table =
        collect(paths, [&rows](const CollectedRun& run) { rows.push_back(cells_of(run)); });
    auto columns = first_columns();
    std::set<std::string> others;
    for (const auto& row : rows)
        for (const auto& [name, cell] : row) others.insert(name);
    for (const auto& name : columns) others.erase(name);
    columns.insert(columns.end(), others.begin(), others.end());
    table.text = fmt::format("{}\n", fmt::join(columns, ","));
    for (const auto& row : rows) add_line(columns, row, table.text);
    return table;
}

}  // namespace wasp
