#include <fmt/format.h>

#include "command.hpp"
#include "nn/model.hpp"
#include "protocols/protocol.hpp"

namespace wasp {

namespace {

void add(CLI::App& group, Commands& commands, const std::string& name, const std::string& help,
         std::string (*text)()) {
    add_command(group, commands, name, help, {}, [text](Arguments& /*arguments*/) {
        fmt::print("{}", text());
        return 0;
    });
}

}  // namespace

void add_help_commands(CLI::App& program, Commands& commands) {
    auto& group = add_group(program, "help", "what --protocol and --model can be");
    add(group, commands, "protocols", "names, keys, rules and sources", protocol_help);
    add(group, commands, "models", "names, sizes and what they are", model_help);
}

}  // namespace wasp
