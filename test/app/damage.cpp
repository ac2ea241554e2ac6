// Files of ours that were damaged, or made up, are refused: one line, no crash, no wait.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "../../src/app/schedule_file.hpp"
#include "base/error.hpp"
#include "report/checkpoint_file.hpp"
#include "report/model_file.hpp"
#include "report/results_file.hpp"
#include "support/output_of.hpp"
#include "support/wasp_program.hpp"

namespace wasp::test {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

constexpr int ranks = 2, updates = 40;

Words training(const fs::path& out, const std::string& protocol, const Words& more) {
    return Words{"train",
                 "--data",
                 small_data(),
                 "--out",
                 out,
                 "--cluster",
                 fmt::format("threads:{}", ranks),
                 "--threads",
                 "1",
                 "--model",
                 "mlp",
                 "--batch",
                 "8",
                 "--eval",
                 "none",
                 "--protocol",
                 protocol,
                 "--progress",
                 "none",
                 "--updates",
                 std::to_string(updates),
                 "--stall-timeout",
                 "2"} +
           more;
}

/// A run with a model and a checkpoint.
class Damage : public testing::Test {
protected:
    void make_run(const std::string& protocol) {
        fs::remove_all(fs::path(out) += ".ckpt");
        const auto outcome = run_wasp(training(
            out, protocol, {"--checkpoint-every", "10updates", "--save-model", model, "--unique"}));
        ASSERT_EQ(outcome.code, 0) << outcome.err;
        checkpoint = fs::directory_iterator(fs::path(out) += ".ckpt")->path();
    }

    /// Copies of `file` with one thing wrong.
    std::vector<std::string> damaged(const fs::path& file) {
        const auto folder = scratch / "damaged";
        fs::create_directory(folder);
        std::istringstream names(
            output_of(fmt::format("{} test/app/make_damaged.py '{}' '{}'", options.python,
                                  file.string(), folder.string())));
        std::vector<std::string> paths;
        for (std::string path; std::getline(names, path);) paths.push_back(path);
        return paths;
    }

    Scratch scratch;
    fs::path out = scratch / "run.h5", model = scratch / "model.h5", checkpoint;
};

/// Reads what can be read; anything but an error of the user's input is a failure.
template <class Read>
void read_or_refuse(Read read, const std::string& what) {
    try {
        read();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage) << what << ": " << error.what();
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << what;
    } catch (const std::exception& error) {
        ADD_FAILURE() << what << ": " << error.what();
    }
}

TEST_F(Damage, FilesWithBytesChangedOrCutOff) {
    make_run("asp");
    const auto copy = scratch / "copy.h5";
    const auto read_all = [&](const std::string& what) {
        read_or_refuse([&] { read_model_file(copy); }, what);
        read_or_refuse([&] { read_checkpoint(copy); }, what);
        read_or_refuse([&] { read_state_of_rank(copy, 1); }, what);
        read_or_refuse([&] { read_results(copy); }, what);
    };
    const auto results = fs::exists(out) ? out : fs::directory_iterator(scratch.path())->path();
    for (const auto& file : {model, checkpoint, results}) {
        const auto whole = bytes_of(file);
        for (std::size_t share = 0; share < 32; ++share) {
            std::ofstream(copy, std::ios::binary) << whole.substr(0, whole.size() * share / 32);
            read_all(fmt::format("{}/32 of {}", share, file.string()));
        }
        // Most of what the format says of itself stands at the beginning.
        for (std::size_t at = 0; at < whole.size(); at += at < 4096 ? 13 : whole.size() / 97) {
            auto changed = whole;
            changed[at] = static_cast<char>(changed[at] ^ (at % 2 == 0 ? 0xff : 1 << (at % 8)));
            std::ofstream(copy, std::ios::binary) << changed;
            read_all(fmt::format("byte {} of {}", at, file.string()));
        }
    }
}

TEST_F(Damage, ModelFilesWithOneThingWrong) {
    make_run("asp");
    const auto paths = damaged(model);
    EXPECT_GT(paths.size(), 80U);
    int refused = 0;
    for (const auto& path : paths)
        read_or_refuse([&] { read_model_file(path), --refused; }, path), ++refused;
    EXPECT_GT(refused, static_cast<int>(paths.size()) * 3 / 4);
    for (const auto* kind : {"model_text", "classes_large", "height_zero", "nan", "tensors_a,a"}) {
        const auto path = (scratch / "damaged" / (std::string(kind) + ".h5")).string();
        for (const auto& words : {Words{"eval", "--model-file", path, "--data", small_data()},
                                  training(scratch / "o.h5", "asp", {"--init", path})})
            EXPECT_EQ(not_refused(run_wasp(words), 2, kind), "") << words.front();
    }
}

TEST_F(Damage, CheckpointsWithOneThingWrong) {
    make_run("asp");
    const auto paths = damaged(checkpoint);
    EXPECT_GT(paths.size(), 80U);
    for (const auto& path : paths) {
        read_or_refuse([&] { read_checkpoint(path); }, path);
        read_or_refuse([&] { read_state_of_rank(path, 0); }, path);
    }
}

struct Item {
    std::string name;
    std::size_t start, size;  // of its bytes
};

/// Of a rank's state: see base/state.cpp.
std::vector<Item> items_of(const std::vector<std::byte>& state) {
    std::vector<Item> items;
    for (std::size_t at = 0; at < state.size();) {
        std::array<std::uint64_t, 2> header{};
        std::memcpy(header.data(), state.data() + at, sizeof(header));
        at += sizeof(header);
        const std::string name(reinterpret_cast<const char*>(state.data() + at), header[0]);
        at += header[0];
        items.push_back({name, at, header[1]});
        at += header[1];
    }
    return items;
}

// Checksums are right, and the values are not: made up by somebody.
TEST_F(Damage, CheckpointsWithValuesThatNoRunHas) {
    for (const std::string protocol : {"wasp:period=7,mass=one", "nosync:tau=3"}) {
        make_run(protocol);
        const auto state = read_state_of_rank(checkpoint, 0);
        auto whole = read_checkpoint(checkpoint);
        whole.model = read_model_file(model);
        const auto made_up = scratch / "made-up.h5";
        int number = 0;
        const auto resume = [&](const std::vector<std::byte>& changed, const std::string& what) {
            whole.ranks[0] = changed;
            const auto bytes = as_bytes(whole);
            std::ofstream(made_up, std::ios::binary)
                .write(reinterpret_cast<const char*>(bytes.data()),
                       static_cast<std::streamsize>(bytes.size()));
            const auto outcome = run_wasp(training(scratch / fmt::format("{}.h5", ++number),
                                                   protocol, {"--resume", made_up}));
            EXPECT_LE(outcome.code, 3) << what << ": " << outcome.err;
            if (outcome.code != 0) {
                EXPECT_EQ(not_refused(outcome, outcome.code, ""), "") << what;
            }
            return outcome;
        };
        for (const auto& [name, start, size] : items_of(state)) {
            if (size == 0) continue;
            for (const int pattern : {0x00, 0x7f, 0xff}) {
                auto changed = state;
                std::memset(changed.data() + start, pattern, std::min<std::size_t>(size, 8));
                const auto outcome = resume(changed, fmt::format("{} of {:#x}", name, pattern));
                if (pattern == 0xff && (name == "step" || name == "weights")) {
                    EXPECT_EQ(not_refused(outcome, 2, "made-up.h5"), "") << name;
                }
            }
        }
        for (const std::size_t length :
             {std::size_t{0}, std::size_t{1}, state.size() / 2, state.size() - 1})
            EXPECT_EQ(resume({state.begin(), state.begin() + static_cast<std::ptrdiff_t>(length)},
                             "cut off")
                          .code,
                      2);
        auto longer = state;
        longer.resize(state.size() + 100);
        EXPECT_EQ(resume(longer, "longer").code, 2);
    }
}

TEST_F(Damage, SchedulesThatNoRunHas) {
    const auto file = scratch / "schedule";
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const auto length = fmt::format("updates {}", updates);
    int number = 0;
    for (const Schedule& schedule : std::vector<Schedule>{
             {"asp", length, {20, most}, {}},
             {"asp", length, {20, 21}, {0, 1}},
             {"asp", length, {20}, {0}},
             {"asp", length, {20, 20, 20}, {2, 2}},
             {"asp", length, {}, {}},
             {"asp\nprotocol ssp", length, {20, 20}, {}},
             {"asp", length + "\nsteps 1 1 1", {20, 20}, {0, 1}},
         }) {
        fs::remove(file);
        write_schedule(file, schedule, false);
        EXPECT_EQ(not_refused(run_wasp(training(scratch / fmt::format("{}.h5", ++number), "asp",
                                                {"--replay", file})),
                              2, "schedule"),
                  "")
            << number;
    }
    // Too few turns for the steps: nobody waits for what does not come.
    fs::remove(file);
    write_schedule(file, {"asp", length, {20, 20}, {0, 0, 0, 1}}, false);
    EXPECT_EQ(run_wasp(training(scratch / "few.h5", "asp", {"--replay", file})).code, 0);
}

TEST_F(Damage, ConfigurationsThatMakeNoSense) {
    const auto file = scratch / "c.toml";
    const std::string deep(2000, '[');
    for (const std::string& text : {std::string("epochs = "),
                                    std::string("epochs = 1\nepochs = 2"),
                                    std::string("epochs = -1"),
                                    std::string("epochs = 1e400"),
                                    std::string("epochs = 99999999999999999999"),
                                    std::string("epochs = 'one'"),
                                    std::string("epochs = [1]"),
                                    std::string("[epochs]\nx = 1"),
                                    std::string("lr = nan"),
                                    std::string("lr = inf"),
                                    std::string("lr = -0.1"),
                                    std::string("batch = 0"),
                                    std::string("batch = 1.5"),
                                    std::string("nesterov = 'maybe'"),
                                    std::string("protocol = ''"),
                                    std::string("no-such = 1"),
                                    std::string("config = 'c.toml'"),
                                    "x = " + deep,
                                    std::string("epochs\0 = 1", 11),
                                    std::string("\xff\xfe\x00", 3),
                                    std::string("epochs = 1979-05-27"),
                                    std::string("\"\" = 1"),
                                    std::string("= 1"),
                                    std::string("cluster = 'threads:999999999999'"),
                                    std::string("seed = -1")}) {
        std::ofstream(file, std::ios::binary) << text;
        const auto outcome = run_wasp({"train", "--data", small_data(), "--out", out, "--cluster",
                                       "threads:1", "--config", file});
        EXPECT_EQ(not_refused(outcome, 2, ""), "") << text.substr(0, 40);
    }
    EXPECT_FALSE(fs::exists(out));
}

// Names that a shell, a terminal or a parser would take apart.
TEST_F(Damage, NamesOfAllKindsWork) {
    for (const std::string name :
         {"with space", "'quote", "\"quotes\"", "new\nline", "tab\t", "$(id)", "`id`", "-dash", "*",
          "späße 🐝", "\\back", "#x", "{}", "%s%n", "a:b,c=d"}) {
        const auto folder = scratch / name;
        fs::create_directory(folder);
        const auto results = folder / (name + ".h5"), saved = folder / (name + " model.h5");
        const Words names{"--save-model", saved.string(), "--checkpoint-every", "10updates"};
        auto words = training(results, "asp", names);
        ASSERT_EQ(run_wasp(words).code, 0) << name;
        EXPECT_EQ(run_wasp({"results", "show", results}).code, 0) << name;
        EXPECT_EQ(run_wasp({"eval", "--model-file", saved, "--data", small_data()}).code, 0)
            << name;
        const auto toml = std::get<std::string>(read_results(results).config.at("toml"));
        fs::remove_all(folder);
        fs::create_directory(folder);
        std::ofstream(folder / "c.toml") << toml;
        EXPECT_EQ(run_wasp({"train", "--config", folder / "c.toml"}).code, 0) << name;
        EXPECT_TRUE(fs::exists(results)) << name;
        EXPECT_EQ(not_refused(run_wasp(training(results, "asp", {"--resume", "auto"})), 2,
                              "holds a finished run"),
                  "")
            << name;
    }
}

}  // namespace
}  // namespace wasp::test
