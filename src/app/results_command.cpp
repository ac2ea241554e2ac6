#include <memory>

#include "command.hpp"
#include "output.hpp"
#include "report/tables.hpp"

namespace wasp {

namespace {

using Files = std::vector<std::string>;
using AsText = std::string (*)(std::span<const std::filesystem::path> files);

void add(CLI::App& group, Commands& commands, const std::string& name, const std::string& help,
         AsText as_text) {
    const auto files = std::make_shared<Files>();
    OptionTable table;
    table.positional("FILE", *files, "results of `wasp train`");
    table.required();
    add_command(group, commands, name, help, std::move(table),
                [files, as_text](Arguments& /*arguments*/) {
                    const std::vector<std::filesystem::path> paths(files->begin(), files->end());
                    say(as_text(paths));
                    return 0;
                });
}

}  // namespace

void add_results_commands(CLI::App& program, Commands& commands) {
    auto& group = add_group(program, "results", "look at the results of runs");
    add(group, commands, "show", "a table with a row a run", show_results);
    add(group, commands, "csv", "all evaluations as comma-separated values", results_csv);
}

}  // namespace wasp
