#include <unistd.h>

#include <array>
#include <filesystem>
#include <memory>

#include "base/error.hpp"
#include "cluster/sim.hpp"
#include "cluster_choice.hpp"
#include "command.hpp"
#include "h5/atomic_file.hpp"
#include "output.hpp"

namespace wasp {

namespace {

void add_platform(CLI::App& group, Commands& commands) {
    struct Options {
        std::string preset = "tianhe2", out;
        std::int64_t nodes = 0;
    };
    const auto options = std::make_shared<Options>();
    OptionTable table;
    constexpr std::int64_t most_nodes = 65'536;
    table.whole("nodes", options->nodes, {1, most_nodes}, "of the machine");
    table.required();
    table.text("preset", options->preset, "NAME", "tianhe2, xeon-ib or ethernet");
    table.text("out", options->out, "FILE.xml", "instead of standard output; replaced if there");
    add_command(
        group, commands, "platform",
        "a modelled machine as SimGrid's XML, to be changed and given to --cluster sim:FILE.xml",
        std::move(table), [options](Arguments& /*arguments*/) {
            Machine machine = machine_preset(options->preset);
            machine.nodes = static_cast<int>(options->nodes);
            const auto text = platform_xml(machine);
            if (options->out.empty())
                say(text);
            else
                h5::replace_file(options->out, std::as_bytes(std::span<const char>(text)));
            return 0;
        });
}

/// jobs/study of the repository that this program was built in: beside bin/ or build/NAME/.
std::filesystem::path study_script() {
    const auto program = std::filesystem::read_symlink("/proc/self/exe");
    auto folder = program.parent_path();
    for (int up = 0; up < 3; ++up, folder = folder.parent_path())
        if (auto script = folder / "jobs" / "study"; std::filesystem::exists(script)) return script;
    throw Error(ExitCode::usage,
                fmt::format("no jobs/study in the folders above {}: run that of the sources as "
                            "`jobs/study STUDY.toml --predict PLATFORM --wasp {}`",
                            program.string(), program.string()));
}

/// All runs of a study in virtual time, by jobs/study.
int predict(const std::string& study, const std::string& platform, const std::string& out) {
    require_virtual_time("wasp predict STUDY.toml");
    const std::string script = study_script(),
                      program = std::filesystem::read_symlink("/proc/self/exe");
    std::vector<const char*> words{script.c_str(),   study.c_str(), "--predict",
                                   platform.c_str(), "--wasp",      program.c_str()};
    if (!out.empty()) words.insert(words.end(), {"--out", out.c_str()});
    words.push_back(nullptr);
    execv(words[0], const_cast<char* const*>(words.data()));
    throw Error(ExitCode::fault, fmt::format("{}: can't be started", script));
}

}  // namespace

void add_predict_commands(CLI::App& program, Commands& commands) {
    struct Options {
        std::string study, platform = "tianhe2", out;
    };
    const auto options = std::make_shared<Options>();
    OptionTable table;
    table.positional("STUDY.toml", options->study, "as for jobs/study");
    table.required();
    table.text("platform", options->platform, "PLATFORM[,KEY=VALUE…]",
               "as in --cluster sim:…, without ranks");
    table.text("out", options->out, "FOLDER", "for the results; the study's, with -predicted");
    const Command& command =
        add_command(program, commands, "predict", "a study in virtual time; a machine for it",
                    std::move(table), [options](Arguments& /*arguments*/) {
                        return predict(options->study, options->platform, options->out);
                    });
    add_platform(*command.app, commands);
}

}  // namespace wasp
