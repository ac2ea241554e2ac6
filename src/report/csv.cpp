// Results for programs: `wasp results csv`, after RFC 4180 (but with \n alone at the ends of
// lines).
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <type_traits>

#include "lookup.hpp"
#include "report/tables.hpp"
#include "schema.hpp"

namespace wasp {
namespace {

/// In front of each row: which run it belongs to. Names of /config where not said otherwise.
constexpr std::array run_options{"model", "protocol", "data", "batch", "lr", "seed"};

std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string all = "\"";
    for (const char c : text) all += c == '"' ? std::string(2, c) : std::string(1, c);
    return all + '"';
}

/// Exact; empty for NaN, which pandas reads as such.
template <class Number>
std::string cell(Number value) {
    if constexpr (std::is_floating_point_v<Number>)
        if (std::isnan(value)) return "";
    return fmt::format("{}", value);
}

std::string header() {
    std::string line = "file,status,ranks,threads";
    for (const auto* option : run_options) line += fmt::format(",{}", option);
    schema::for_each(schema::curve,
                     [&](const auto& column) { line += fmt::format(",{}", column.name); });
    return line + '\n';
}

std::string describe_run(const std::filesystem::path& file, const Results& results) {
    std::string cells = fmt::format("{},{},{},{}", quoted(file.string()), quoted(results.status),
                                    results.ranks.size(),
                                    results.ranks.empty() ? 0 : results.ranks.front().threads);
    for (const auto* option : run_options)
        cells += fmt::format(",{}", quoted(text(results.config, option)));
    return cells;
}

}  // namespace

std::string results_csv(std::span<const std::filesystem::path> files) {
    std::string lines = header();
    for (const auto& file : files) {
        const auto results = read_results(file, false);
        const std::string run = describe_run(file, results);
        if (results.curve.empty()) {
            lines += run + std::string(std::tuple_size_v<decltype(schema::curve)>, ',') + '\n';
            continue;
        }
        for (const auto& row : results.curve) {
            lines += run;
            schema::for_each(schema::curve, [&](const auto& column) {
                lines += fmt::format(",{}", cell(row.*column.member));
            });
            lines += '\n';
        }
    }
    return lines;
}

}  // namespace wasp
