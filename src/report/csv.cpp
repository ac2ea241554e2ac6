// Evaluations for programs: `wasp results csv`.
#include <fmt/format.h>

#include "collect.hpp"
#include "csv_cells.hpp"
#include "lookup.hpp"
#include "schema.hpp"

namespace wasp {
namespace {

/// In front of each row: which run it belongs to.
std::string header() {
    std::string line = "file,status,ranks,threads";
    for (const auto* option : csv::run_options) line += fmt::format(",{}", option);
    schema::for_each(schema::curve,
                     [&](const auto& column) { line += fmt::format(",{}", column.name); });
    return line + '\n';
}

std::string describe(const CollectedRun& run) {
    const auto& ranks = run.results.ranks;
    std::string cells =
        fmt::format("{},{},{},{}", csv::cell(run.file.string()), csv::cell(run.status),
                    ranks.size(), ranks.empty() ? 0 : ranks.front().threads);
    for (const auto* option : csv::run_options)
        cells += fmt::format(",{}", csv::cell(text(run.results.config, option)));
    return cells;
}

void add_rows(const CollectedRun& run, std::string& lines) {
    const std::string front = describe(run);
    if (run.results.curve.empty())
        lines += front + std::string(std::tuple_size_v<decltype(schema::curve)>, ',') + '\n';
    for (const auto& row : run.results.curve) {
        lines += front;
        schema::for_each(schema::curve, [&](const auto& column) {
            lines += fmt::format(",{}", csv::cell(row.*column.member));
        });
        lines += '\n';
    }
}

}  // namespace

RunsTable results_csv(std::span<const std::filesystem::path> paths) {
    std::string lines = header();
    auto table = collect(paths, [&lines](const CollectedRun& run) { add_rows(run, lines); });
    table.text = std::move(lines);
    return table;
}

}  // namespace wasp
