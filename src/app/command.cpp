#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <span>

namespace wasp {

std::string Arguments::text() const {
    return fmt::format("{}", fmt::join(std::span(words, static_cast<std::size_t>(count)), " "));
}

Command& add_command(CLI::App& parent, Commands& commands, const std::string& name,
                     const std::string& help, OptionTable options,
                     std::function<int(Arguments&)> run) {
    Command& command = commands.emplace_back();
    command.app = parent.add_subcommand(name, help)->allow_extras();
    command.options = std::move(options);
    command.options.add_to(*command.app);
    command.run = std::move(run);
    return command;
}

void add_config_file(Command& command) {
    command.app
        ->add_option_function<std::string>(
            "--config", [&command](const std::string& file) { command.config_file = file; },
            "TOML file of options, KEY = VALUE; the command line wins")
        ->type_name("FILE");
    command.app->footer(
        "--option TYPE=VALUE: VALUE if it is not given. All options, the required ones too, may "
        "stand in the --config file.");
}

CLI::App& add_group(CLI::App& parent, const std::string& name, const std::string& help) {
    return *parent.add_subcommand(name, help)->allow_extras()->require_subcommand(0, 1);
}

}  // namespace wasp
