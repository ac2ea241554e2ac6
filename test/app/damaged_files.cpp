// Files of ours that somebody damaged or made up are refused: one line, no crash, no wait.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

#include "../../src/app/schedule_file.hpp"
#include "base/error.hpp"
#include "base/failure.hpp"
#include "report/checkpoint_file.hpp"
#include "report/model_file.hpp"
#include "report/results_file.hpp"
#include "support/output_of.hpp"
#include "support/wasp_program.hpp"

namespace wasp::test {
namespace {

namespace fs = std::filesystem;

constexpr int updates = 40;

Words training(const fs::path& out, const std::string& protocol, const Words& more) {
    return Words{"train",
                 "--data",
                 small_data(),
                 "--out",
                 out,
                 "--cluster",
                 "threads:2",
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

/// A run, its model and its newest checkpoint, in a folder of their own.
struct Example {
    explicit Example(const std::string& protocol) {
        const auto outcome =
            run_wasp(training(scratch / "run.h5", protocol,
                              {"--checkpoint-every", "10updates", "--save-model", model}));
        if (outcome.code != 0) throw std::runtime_error(outcome.err);
        checkpoint = fs::directory_iterator(scratch / "run.h5.ckpt")->path();
    }

    /// Copies of `file` with one thing wrong.
    std::vector<fs::path> damaged(const fs::path& file) const {
        const auto folder = scratch / "damaged";
        fs::create_directory(folder);
        std::istringstream names(
            output_of(fmt::format("{} test/app/make_damaged.py '{}' '{}'", options.python,
                                  file.string(), folder.string())));
        std::vector<fs::path> paths;
        for (std::string path; std::getline(names, path);) paths.emplace_back(path);
        return paths;
    }

    Scratch scratch;
    fs::path model = scratch / "model.h5", checkpoint;
};

/// Whether what can't be read is refused as the user's mistake.
bool is_refused(const std::function<void()>& read, const fs::path& path) {
    const auto failure = failure_of(read);
    if (!failure) return false;
    EXPECT_EQ(failure->code(), ExitCode::usage) << path << ": " << failure->what();
    EXPECT_EQ(one_line(failure->what()), failure->what()) << path;
    return true;
}

TEST(DamagedFiles, ModelFilesWithOneThingWrong) {
    const Example example("asp");
    const auto paths = example.damaged(example.model);
    EXPECT_GT(paths.size(), 80U);
    const auto refused = std::ranges::count_if(paths, [](const fs::path& path) {
        return is_refused([&] { read_model_file(path); }, path);
    });
    EXPECT_GT(refused, std::ssize(paths) * 3 / 4);
    for (const std::string kind : {"model_text", "classes_large", "nan", "tensors_a,a"}) {
        const auto path = (example.scratch / "damaged" / (kind + ".h5")).string();
        for (const auto& words : {Words{"eval", "--model-file", path, "--data", small_data()},
                                  training(example.scratch / "o.h5", "asp", {"--init", path})})
            EXPECT_EQ(not_refused(run_wasp(words), 2, kind), "") << words.front();
    }
}

TEST(DamagedFiles, CheckpointsWithOneThingWrong) {
    const Example example("asp");
    const auto paths = example.damaged(example.checkpoint);
    EXPECT_GT(paths.size(), 80U);
    const auto refused = std::ranges::count_if(paths, [](const fs::path& path) {
        return is_refused([&] { read_checkpoint(path), read_state_of_rank(path, 0); }, path);
    });
    EXPECT_GT(refused, std::ssize(paths) * 2 / 5);
}

/// Of a rank's state, as base/state.cpp writes it: sizes, name, bytes.
struct Item {
    std::string name;
    std::size_t start, size;  // of its bytes
};

std::vector<Item> items_of(const std::vector<std::byte>& state) {
    std::vector<Item> items;
    for (std::size_t at = 0; at < state.size();) {
        std::array<std::uint64_t, 2> sizes{};
        std::memcpy(sizes.data(), state.data() + at, sizeof sizes);
        at += sizeof sizes;
        const std::string name(reinterpret_cast<const char*>(state.data() + at), sizes[0]);
        at += sizes[0];
        items.push_back({name, at, sizes[1]});
        at += sizes[1];
    }
    return items;
}

// Checksums are right, and the values are not. What is refused is the user's mistake, or shows in
// training (a step that no run has, weights that are not finite), or is a run as good as any.
TEST(DamagedFiles, CheckpointsWithValuesThatNoRunHas) {
    const Example example("wasp:period=7,mass=one");
    const auto state = read_state_of_rank(example.checkpoint, 0);
    auto whole = read_checkpoint(example.checkpoint);
    whole.model = read_model_file(example.model);
    const auto made_up = example.scratch / "made-up.h5";
    int number = 0;
    const auto resume = [&](const std::vector<std::byte>& changed) {
        whole.ranks[0] = changed;
        const auto bytes = as_bytes(whole);
        std::ofstream(made_up, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
        return run_wasp(training(example.scratch / fmt::format("{}.h5", ++number),
                                 "wasp:period=7,mass=one", {"--resume", made_up}));
    };
    bool is_first_step = true;
    for (const auto& [name, start, size] : items_of(state)) {
        if (size == 0) continue;
        for (const int pattern : {0x7f, 0xff}) {
            auto changed = state;
            std::memset(changed.data() + start, pattern, std::min<std::size_t>(size, 8));
            const auto outcome = resume(changed);
            if (outcome.code != 0) {
                EXPECT_EQ(not_refused(outcome, std::min(outcome.code, 3), ""), "") << name;
            }
            if ((name == "step" && is_first_step) || (name == "weights" && pattern == 0xff)) {
                EXPECT_EQ(not_refused(outcome, 2, "made-up.h5"), "") << name;
            }
        }
        is_first_step = is_first_step && name != "step";
    }
    for (const std::size_t length :
         {std::size_t{0}, std::size_t{1}, state.size() / 2, state.size() - 1, state.size() + 100}) {
        auto cut = state;
        cut.resize(length);
        EXPECT_EQ(not_refused(resume(cut), 2, "made-up.h5"), "") << length;
    }
}

TEST(DamagedFiles, SchedulesThatNoRunHas) {
    const Scratch scratch;
    const auto file = scratch / "schedule";
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const auto length = fmt::format("updates {}", updates);
    int number = 0;
    const auto replay = [&](const Schedule& schedule) {
        fs::remove(file);
        write_schedule(file, schedule, false);
        return run_wasp(
            training(scratch / fmt::format("{}.h5", ++number), "asp", {"--replay", file}));
    };
    for (const Schedule& schedule :
         std::vector<Schedule>{{"asp", length, {20, most}, {}},
                               {"asp", length, {20, 21}, {0, 1}},
                               {"asp", length, {20}, {0}},
                               {"asp", length, {20, 20, 20}, {2, 2}},
                               {"asp", length, {}, {}},
                               {"asp\nprotocol ssp", length, {20, 20}, {}}})
        EXPECT_EQ(not_refused(replay(schedule), 2, "schedule"), "") << number;
    // Too few turns for the steps: nobody waits for what does not come.
    EXPECT_EQ(replay({"asp", length, {20, 20}, {0, 0, 0, 1}}).code, 0);
}

TEST(DamagedFiles, ConfigurationsThatMakeNoSense) {
    const Scratch scratch;
    const auto file = scratch / "c.toml", out = scratch / "run.h5";
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
                                    "x = " + std::string(2000, '['),
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
TEST(OddNames, OfFilesAndFoldersWork) {
    const Scratch scratch;
    for (const std::string name :
         {"with space", "'quote", "\"quotes\"", "new\nline", "tab\t", "$(id)", "-dash", "*",
          "späße 🐝", "\\back", "#x", "{}", "%s%n", "a:b,c=d"}) {
        const auto folder = scratch / name;
        fs::create_directory(folder);
        const auto results = folder / (name + ".h5"), saved = folder / (name + " model.h5");
        ASSERT_EQ(run_wasp(training(results, "asp",
                                    {"--save-model", saved, "--checkpoint-every", "10updates"}))
                      .code,
                  0)
            << name;
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
