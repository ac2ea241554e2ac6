/// A subcommand: its options, and what it does. Each src/app/*_command.cpp adds its own.
#pragma once

#include <functional>
#include <list>
#include <string>

#include "option_table.hpp"

namespace wasp {

/// The command line as it was given.
struct Arguments {
    int count = 0;
    char** words = nullptr;
    std::string text() const;  ///< as one line
};

struct Command {
    CLI::App* app = nullptr;
    OptionTable options;
    std::optional<std::string> config_file;  ///< --config
    std::function<int(Arguments&)> run;      ///< returns the exit code
    bool starts_mpi = false;
};

/// The parser keeps addresses of its elements.
using Commands = std::list<Command>;

/// parent: the program or a group.
Command& add_command(CLI::App& parent, Commands& commands, const std::string& name,
                     const std::string& help, OptionTable options,
                     std::function<int(Arguments&)> run);
/// Let the options of `command` stand in a TOML file too: --config FILE.
void add_config_file(Command& command);
/// Commands under one name, as `wasp data …`.
CLI::App& add_group(CLI::App& parent, const std::string& name, const std::string& help);

void add_train_command(CLI::App& program, Commands& commands);
void add_eval_command(CLI::App& program, Commands& commands);
void add_data_commands(CLI::App& program, Commands& commands);
void add_results_commands(CLI::App& program, Commands& commands);
void add_model_commands(CLI::App& program, Commands& commands);
void add_bench_commands(CLI::App& program, Commands& commands);
void add_predict_commands(CLI::App& program, Commands& commands);
void add_doctor_command(CLI::App& program, Commands& commands);
void add_help_commands(CLI::App& program, Commands& commands);

}  // namespace wasp
