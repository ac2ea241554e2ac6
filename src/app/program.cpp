#include "app/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.hpp"
#include "base/failure.hpp"
#include "base/nearest.hpp"
#include "cluster/ending.hpp"
#include "cluster/launcher.hpp"
#include "command.hpp"
#include "output.hpp"
#include "report/provenance.hpp"
#include "signals.hpp"

namespace wasp {

namespace {

/// Help, which every process of a job has to say, is said by one.
void say_once(std::string_view text) {
    if (launched_rank() == 0) say(text);
}

std::string program_version() {
    return fmt::format("wasp, commit {}", std::get<std::string>(provenance({}).at("git_commit")));
}

/// "wasp data import"
std::string path_of(const CLI::App& app) {
    const auto* parent = app.get_parent();
    return parent == nullptr ? "wasp" : path_of(*parent) + " " + app.get_name();
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
    return names;
}

/// What the parser did not understand: an option or a command.
[[noreturn]] void refuse(const CLI::App& app, std::string word) {
    const bool option = word.starts_with("-");
    if (option) word.resize(std::min(word.size(), word.find('=')));
    std::vector<std::string> known = subcommand_names(app);
    if (option) {
        known.clear();
        for (const auto* row : app.get_options()) known.push_back(row->get_name());
    }
    const auto without_dashes = [](std::string_view name) {
        return name.substr(std::min(name.find_first_not_of('-'), name.size()));
    };
    std::vector<std::string_view> views;
    for (const auto& name : known) views.push_back(without_dashes(name));
    const auto guess = nearest(without_dashes(word), views);
    throw Error(ExitCode::usage, fmt::format("unknown {} '{}'{}; see `{} --help`",
                                             option          ? "option"
                                             : known.empty() ? "argument"
                                                             : "command",
                                             word,
                                             guess.empty() ? ""
                                                           : fmt::format(" (did you mean '{}{}'?)",
                                                                         option ? "--" : "", guess),
                                             path_of(app)));
}

/// The command that was named, completely understood.
Command& chosen(const CLI::App& program, Commands& commands) {
    const CLI::App* app = &program;
    while (true) {
        const auto words = app->remaining();
        if (!words.empty()) {
            const auto option =
                std::ranges::find_if(words, [](const auto& word) { return word.starts_with("-"); });
            refuse(*app, option != words.end() ? *option : words.front());
        }
        if (app->get_subcommands().empty()) break;
        app = app->get_subcommands().front();
    }
    const auto command = std::ranges::find(commands, app, &Command::app);
    REQUIRE(command != commands.end(), "`{}` needs a command: {}", path_of(*app),
            fmt::join(subcommand_names(*app), ", "));
    return *command;
}

int run(CLI::App& program, Commands& commands, Arguments arguments) {
    try {
        program.parse(arguments.count, arguments.words);
    } catch (const CLI::CallForHelp&) {
        say_once(program.help());
        return 0;
    } catch (const CLI::CallForVersion&) {
        say_once(program_version() + "\n");
        return 0;
    } catch (const CLI::ArgumentMismatch& error) {
        const std::string text = error.what();  // "--lr: 1 required X missing"
        throw Error(ExitCode::usage,
                    fmt::format("{} needs a value", text.substr(0, text.find(": "))));
    } catch (const CLI::ParseError& error) {
        throw Error(ExitCode::usage, error.what());
    }
    Command& command = chosen(program, commands);
    if (command.config_file) command.options.read_toml(*command.config_file);
    command.options.check_complete();
    return command.run(arguments);
}

/// Whether the words name a command without MPI, which no other process waits for.
bool stands_alone(const CLI::App& program, const Commands& commands, const Arguments& arguments) {
    const CLI::App* named = &program;
    for (int i = 1; i < arguments.count; ++i) {
        const auto below = named->get_subcommands(
            [&](const CLI::App* app) { return app->get_name() == arguments.words[i]; });
        if (below.empty()) break;
        named = below.front();
    }
    const auto is_named = [named](const CLI::App* app) {
        while (app != nullptr && app != named) app = app->get_parent();
        return app != nullptr;
    };
    return std::ranges::none_of(commands, [&](const Command& command) {
        return command.starts_mpi && is_named(command.app);
    });
}

int report(const Error& error) {
    fmt::print(stderr, "wasp: error: {}\n", one_line(error.what()));
    return static_cast<int>(error.code());
}

}  // namespace

int run_program(int argc, char** argv) {
    expect_limits();
    Arguments arguments{argc, argv};
    Commands commands;
    CLI::App program{"WASP: distributed training of deep networks with MPI and OpenMP", "wasp"};
    program.allow_extras()->require_subcommand(0, 1)->set_version_flag("--version", "");
    add_train_command(program, commands);
    add_eval_command(program, commands);
    add_data_commands(program, commands);
    add_results_commands(program, commands);
    add_model_commands(program, commands);
    add_bench_commands(program, commands);
    add_predict_commands(program, commands);
    add_doctor_command(program, commands);
    add_help_commands(program, commands);

    int code = 0;
    const auto failure = failure_of([&] {
        code = run(program, commands, arguments);
        if (code == 0) check_output();
    });
    if (!failure) return code;
    const bool others_wait =
        launched_ranks() > 1 && !mpi_was_started() && !stands_alone(program, commands, arguments);
    return others_wait ? fail_on_mpi(&arguments.count, &arguments.words, *failure)
                       : report(*failure);
}

}  // namespace wasp
