#include <fmt/format.h>

#include <memory>

#include "base/error.hpp"
#include "command.hpp"
#include "output.hpp"
#include "report/tables.hpp"

namespace wasp {

namespace {

using Paths = std::vector<std::string>;
using AsTable = RunsTable (*)(std::span<const std::filesystem::path> paths);

int print(const RunsTable& table) {
    say(table.text);
    for (const auto& remark : table.remarks) fmt::print(stderr, "wasp: {}\n", remark);
    return static_cast<int>(table.complete ? ExitCode::done : ExitCode::usage);
}

void add(CLI::App& group, Commands& commands, const std::string& name, const std::string& help,
         AsTable as_table) {
    const auto given = std::make_shared<Paths>();
    OptionTable table;
    table.positional("FILE|FOLDER", *given, "results of `wasp train`, or the folder of a study");
    table.required();
    add_command(group, commands, name, help, std::move(table),
                [given, as_table](Arguments& /*arguments*/) {
                    const std::vector<std::filesystem::path> paths(given->begin(), given->end());
                    return print(as_table(paths));
                });
}

}  // namespace

void add_results_commands(CLI::App& program, Commands& commands) {
    auto& group = add_group(program, "results", "look at the results of runs");
    add(group, commands, "show", "a table with a row a run", show_results);
    add(group, commands, "csv", "all evaluations as comma-separated values", results_csv);
    add(group, commands, "merge", "a row a run as comma-separated values: summary, times, options",
        merge_results);
}

}  // namespace wasp
