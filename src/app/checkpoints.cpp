#include "checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "h5/atomic_file.hpp"
#include "h5/reader.hpp"
#include "model_io.hpp"
#include "report/checkpoint_file.hpp"
#include "train_options.hpp"

namespace wasp {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view first_letters = "step-";

/// Names sort as the steps do.
std::string name_of(std::int64_t step) {
    return fmt::format("{}{:012}.h5", first_letters, step);
}

/// Of a folder; the newest first.
std::vector<fs::path> checkpoints_in(const fs::path& folder) {
    std::vector<fs::path> paths;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        const auto name = entry.path().filename().string();
        if (name.starts_with(first_letters) && name.ends_with(".h5")) paths.push_back(entry.path());
    }
    std::ranges::sort(paths, std::greater{});
    return paths;
}

std::string options_of(const TrainConfig& config) {
    TrainConfig copy = config;
    return train_options(copy).toml();
}

/// The lines of a TOML text that say what is computed.
std::set<std::string> what_is_trained(const std::string& toml) {
    constexpr std::array free{"out",
                              "data",
                              "unique",
                              "resume",
                              "checkpoint-every",
                              "progress",
                              "epochs",
                              "updates",
                              "samples",
                              "save-model",
                              "threads",
                              "stall-timeout",
                              "cluster",
                              "record-every",
                              "max-loss",
                              "keep-checkpoints",
                              "record-schedule",
                              "replay",
                              "max-time"};
    std::set<std::string> lines;
    std::istringstream text(toml);
    for (std::string line; std::getline(text, line);)
        if (std::ranges::find(free, line.substr(0, line.find(' '))) == free.end())
            lines.insert(line);
    return lines;
}

void check_same_run(const Checkpoint& checkpoint, const fs::path& path, const TrainConfig& config,
                    const Dataset& dataset, int ranks) {
    REQUIRE(std::ssize(checkpoint.ranks) == ranks,
            "--resume: '{}' is of {} ranks, not {}; resume it on as many", path.string(),
            checkpoint.ranks.size(), ranks);
    const auto then = what_is_trained(checkpoint.options);
    const auto now = what_is_trained(options_of(config));
    for (const auto& line : now)
        REQUIRE(then.contains(line), "--resume: '{}' was made without '{}'; give the options of it",
                path.string(), line);
    for (const auto& line : then)
        REQUIRE(now.contains(line), "--resume: '{}' was made with '{}'; give the options of it",
                path.string(), line);
    const auto in_turns = [](const std::string& toml) {
        return toml.find("\nrecord-schedule = ") != std::string::npos;
    };
    const bool takes_turns = !config.record_schedule.empty() || !config.replay.empty();
    REQUIRE(takes_turns == in_turns(checkpoint.options),
            "--resume: '{}' was made with{} --record-schedule; give it{}", path.string(),
            takes_turns ? "out" : "", takes_turns ? " no schedule" : ", too, or --replay");
    REQUIRE(checkpoint.dataset_sha256 == dataset.sha256,
            "--resume: '{}' was made with other data than '{}'", path.string(), config.data);
}

/// Error: what stands in --out must not be replaced.
void check_not_finished(const fs::path& out) {
    if (!fs::exists(out)) return;
    if (!checkpoints_in(checkpoint_folder(out)).empty() && h5::is_broken(out)) {
        fmt::print(stderr, "wasp: note: '{}' is damaged; it is made again from the checkpoint\n",
                   out.string());
        return;
    }
    REQUIRE(read_results(out, false).status != "finished",
            "--resume: '{}' holds a finished run; choose another --out", out.string());
}

}  // namespace

fs::path checkpoint_folder(const fs::path& out) {
    return fs::path(out) += ".ckpt";
}

void check_no_checkpoints(const TrainConfig& config) {
    const auto folder = checkpoint_folder(config.out);
    REQUIRE(checkpoints_in(folder).empty(),
            "'{}' has checkpoints of an earlier run; go on from them with --resume auto, or remove "
            "them",
            folder.string());
}

fs::path find_checkpoint(const TrainConfig& config, const Dataset& dataset, int ranks) {
    if (config.resume.empty()) return {};
    check_not_finished(config.out);
    if (config.resume != "auto") {
        check_same_run(read_checkpoint(config.resume), config.resume, config, dataset, ranks);
        return config.resume;
    }
    for (const auto& path : checkpoints_in(checkpoint_folder(config.out))) {
        Checkpoint checkpoint;
        try {
            checkpoint = read_checkpoint(path);
        } catch (const Error& error) {
            fmt::print(stderr, "wasp: note: {}; trying the one before\n", error.what());
            continue;
        }
        check_same_run(checkpoint, path, config, dataset, ranks);
        return path;
    }
    return {};
}

Checkpoints::Checkpoints(Run& run, const fs::path& out, fs::path resumes_from)
    : run_(run), folder_(checkpoint_folder(out)) {
    if (!resumes_from.empty()) kept_.push_front(std::move(resumes_from));
    if (!run.config.resume.empty() && run.is_first_worker())
        h5::remove_unfinished_in(folder_, first_letters);
}

void Checkpoints::save(std::int64_t step, const VisitState& visit) {
    StateWriter mine;
    visit(mine);
    run_.cluster.barrier();  // nobody goes on before all have written down what they are
    auto ranks = run_.cluster.gather(mine.bytes(), run_.first_worker());
    if (!run_.is_first_worker()) return;
    try {
        finish();
    } catch (const std::exception& error) {
        fmt::print(stderr, "wasp: warning: no checkpoint: {}; training goes on\n", error.what());
    }
    auto bytes = as_bytes(Checkpoint{.model = as_file(run_.model, run_.dataset),
                                     .step = step,
                                     .options = options_of(run_.config),
                                     .dataset_sha256 = run_.dataset.sha256,
                                     .ranks = std::move(ranks)});
    writer_ = std::jthread([this, path = folder_ / name_of(step), bytes = std::move(bytes)] {
        try {
            fs::create_directories(folder_);
            const Stopwatch watch;
            h5::replace_file(path, bytes);
            seconds_on_disk_ = watch.seconds();
            std::erase(kept_, path);  // written again after the first worker's last step
            kept_.push_front(path);
            forget_old();
        } catch (...) {
            failure_ = std::current_exception();
        }
    });
}

/// And what an earlier run left, or what was unsound.
void Checkpoints::forget_old() {
    kept_.resize(std::min(kept_.size(), static_cast<std::size_t>(run_.config.keep_checkpoints)));
    std::error_code ignored;
    for (const auto& path : checkpoints_in(folder_))
        if (std::ranges::find(kept_, path) == kept_.end()) fs::remove(path, ignored);
}

bool Checkpoints::resume(const VisitState& visit) {
    if (kept_.empty()) return false;
    collectively(run_.cluster, [&] {
        const auto bytes = read_state_of_rank(kept_.front(), run_.cluster.rank());
        StateReader reader(
            bytes, fmt::format("'{}', rank {}", kept_.front().string(), run_.cluster.rank()));
        visit(reader);
        reader.done();
    });
    return true;
}

fs::path Checkpoints::finish() {
    if (writer_.joinable()) writer_.join();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return kept_.empty() ? fs::path() : kept_.front();
}

}  // namespace wasp
