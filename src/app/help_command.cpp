#include <CLI/CLI.hpp>

#include "command.hpp"
#include "nn/model.hpp"
#include "output.hpp"
#include "protocols/protocol.hpp"

namespace wasp {

namespace {

void add(CLI::App& group, Commands& commands, const std::string& name, const std::string& help,
         std::string (*text)()) {
    add_command(group, commands, name, help, {}, [text](Arguments& /*arguments*/) {
        say(text());
        return 0;
    });
}

}  // namespace

void add_help_commands(CLI::App& program, Commands& commands) {
    const auto others = program.get_subcommands([](const CLI::App*) { return true; });
    auto& group =
        add_group(program, "help", "of a command, and what --protocol and --model can be");
    for (const auto* command : others)
        add_command(group, commands, command->get_name(), command->get_description(), {},
                    [command](Arguments& /*arguments*/) {
                        say(command->help("wasp"));
                        return 0;
                    });
    add(group, commands, "protocols", "names, keys, rules and sources", protocol_help);
    add(group, commands, "models", "names, sizes and what they are", model_help);
}

}  // namespace wasp
