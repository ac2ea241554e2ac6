#include "collect.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <vector>

#include "base/error.hpp"
#include "own_file.hpp"

namespace wasp {
namespace {

namespace fs = std::filesystem;

constexpr auto damaged = "damaged";

/// Names of the folder's files that end so, hidden ones left out: those are being written.
std::set<std::string> stems(const fs::path& folder, const char* ending) {
    std::set<std::string> found;
    if (!fs::is_directory(folder)) return found;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const auto& path = entry.path();
        if (path.extension() == ending && entry.is_regular_file() &&
            !path.filename().string().starts_with('.'))
            found.insert(path.stem().string());
    }
    return found;
}

/// Whether it is a file of wasp's that holds no results: a study's folder may hold models, too.
bool is_of_another_kind(const fs::path& path) {
    try {
        const auto program = text_attribute(h5::File(path), "/", "program");
        return program == model_kind.program || program == checkpoint_kind.program;
    } catch (const Error&) {
        return false;
    }
}

CollectedRun read_run(const fs::path& path) {
    CollectedRun run{.file = path, .status = {}, .fault = {}, .results = {}};
    try {
        run.results = read_results(path, false);
        run.status = run.results.status;
    } catch (const Error& error) {
        run.status = damaged;
        run.fault = error.what();
    }
    return run;
}

/// Counts runs by status, and names those that are no results.
class Tally {
public:
    void add(const CollectedRun& run) {
        ++counts_[run.status];
        if (run.status == "finished" || run.status == "diverged") return;
        lines_.push_back(
            fmt::format("{}: {}", run.status, run.fault.empty() ? run.file.string() : run.fault));
        complete_ = complete_ && run.status != damaged;
    }

    void skip(const fs::path& file) {
        lines_.push_back(fmt::format("left out: {} holds a model, no results", file.string()));
    }

    RunsTable table() const {
        RunsTable table{.text = {}, .remarks = lines_, .complete = complete_};
        if (lines_.empty()) return table;
        std::vector<std::string> parts;
        int all = 0;
        for (const auto& [status, count] : counts_) {
            parts.push_back(fmt::format("{} {}", count, status));
            all += count;
        }
        table.remarks.push_back(fmt::format("{} runs: {}", all, fmt::join(parts, ", ")));
        return table;
    }

private:
    std::map<std::string, int> counts_;
    std::vector<std::string> lines_;
    bool complete_ = true;
};

}  // namespace

RunsTable collect(std::span<const fs::path> paths,
                  const std::function<void(const CollectedRun&)>& use) {
    Tally tally;
    const auto take = [&](const CollectedRun& run) {
        tally.add(run);
        use(run);
    };
    for (const auto& path : paths) {
        REQUIRE(fs::exists(path), "{}: no such file or folder", path.string());
        if (!fs::is_directory(path)) {
            take(read_run(path));
            continue;
        }
        const auto there = stems(path, ".h5");
        auto all = stems(path / "runs", ".toml");
        all.insert(there.begin(), there.end());
        REQUIRE(!all.empty(), "{}: holds no results (*.h5)", path.string());
        for (const auto& name : all) {
            const auto file = path / (name + ".h5");
            if (!there.contains(name)) {
                take({.file = file, .status = "missing", .fault = {}, .results = {}});
                continue;
            }
            const auto run = read_run(file);
            if (run.status == damaged && is_of_another_kind(file))
                tally.skip(file);
            else
                take(run);
        }
    }
    return tally.table();
}

}  // namespace wasp
