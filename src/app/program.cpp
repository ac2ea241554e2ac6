#include "app/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "command.hpp"
#include "launcher.hpp"
#include "report/provenance.hpp"

namespace wasp {

namespace {

/// What every process of a job has to say is said by one.
void say_once(std::FILE* out, std::string_view text) {
    if (launched_rank() == 0) fmt::print(out, "{}", text);
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
    const std::vector<std::string_view> views(known.begin(), known.end());
    const auto guess = nearest(word, views);
    throw Error(ExitCode::usage,
                fmt::format("unknown {} '{}'{}; see `{} --help`",
                            option          ? "option"
                            : known.empty() ? "argument"
                                            : "command",
                            word, guess.empty() ? "" : fmt::format(" (did you mean '{}'?)", guess),
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
        say_once(stdout, program.help());
        return 0;
    } catch (const CLI::CallForVersion&) {
        say_once(stdout, program_version() + "\n");
        return 0;
    } catch (const CLI::ParseError& error) {
        throw Error(ExitCode::usage, error.what());
    }
    Command& command = chosen(program, commands);
    if (!command.config_file.empty()) command.options.read_toml(command.config_file);
    command.options.check_complete();
    return command.run(arguments);
}

int report(int code, std::string_view message) {
    say_once(stderr, fmt::format("wasp: error: {}\n", message));
    return code;
}

}  // namespace

int run_program(int argc, char** argv) {
    try {
        Commands commands;
        CLI::App program{"WASP: distributed training of deep networks with MPI and OpenMP", "wasp"};
        program.allow_extras()->require_subcommand(0, 1)->set_version_flag("--version", "");
        add_train_command(program, commands);
        add_eval_command(program, commands);
        add_data_commands(program, commands);
        add_results_commands(program, commands);
        add_model_commands(program, commands);
        add_bench_commands(program, commands);
        add_help_commands(program, commands);
        return run(program, commands, {argc, argv});
    } catch (const Error& error) {
        return report(static_cast<int>(error.code()), error.what());
    } catch (const std::bad_alloc&) {
        return report(static_cast<int>(ExitCode::fault), "out of memory");
    } catch (const std::exception& error) {
        return report(static_cast<int>(ExitCode::fault), error.what());
    }
}

}  // namespace wasp
