#include <memory>

#include "command.hpp"
#include "nn/model.hpp"
#include "output.hpp"
#include "report/tables.hpp"

namespace wasp {

void add_model_commands(CLI::App& program, Commands& commands) {
    auto& group = add_group(program, "model", "the networks, and trained models");
    add_command(group, commands, "list", "names, sizes and what they are", {},
                [](Arguments& /*arguments*/) {
                    say(model_help());
                    return 0;
                });
    const auto file = std::make_shared<std::string>();
    OptionTable table;
    table.positional("FILE", *file, "a model of `wasp train --save-model`");
    table.required();
    add_command(group, commands, "show", "the tensors of a model file", std::move(table),
                [file](Arguments& /*arguments*/) {
                    say(show_model(*file));
                    return 0;
                });
}

}  // namespace wasp
