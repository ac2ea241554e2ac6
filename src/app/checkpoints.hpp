/// Checkpoints of a run: OUT.ckpt/step-N.h5, the latest of them. The ranks' states are gathered
/// while all stand still; the file is written while training goes on.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/state.hpp"
#include "run.hpp"

namespace wasp {

/// The folder of the checkpoints of a run with these results.
std::filesystem::path checkpoint_folder(const std::filesystem::path& out);

/// What `config` resumes from; empty: it starts anew. By one rank.
/// Error: --resume FILE is unsound; a checkpoint is of another run, with the first option that
/// differs; --out holds a finished run.
std::filesystem::path find_checkpoint(const TrainConfig& config, const Dataset& dataset, int ranks);

/// Error: there are checkpoints of an earlier run, and `config` does not resume.
void check_no_checkpoints(const TrainConfig& config);

class Checkpoints {
public:
    /// out: of the results (on the first worker's rank, which writes); resumes_from: empty, to
    /// start anew.
    Checkpoints(Run& run, const std::filesystem::path& out, std::filesystem::path resumes_from);

    /// Collective, while nobody is in a step. visit: all that a rank is.   step: the next one.
    /// What goes wrong on disk is said once and costs this checkpoint only; see finish().
    void save(std::int64_t step, const VisitState& visit);

    /// Collective, before the first step. Returns false and does nothing where the run starts anew.
    bool resume(const VisitState& visit);

    /// On the first worker's rank: waits until what was saved last is on disk, and returns its
    /// path; empty: there is none.   Error: it could not be written.
    std::filesystem::path finish();

    /// How long the last one took to be written that was; 0: none was yet.
    double seconds_on_disk() const { return seconds_on_disk_; }

private:
    void forget_old();

    Run& run_;
    std::filesystem::path folder_;
    std::deque<std::filesystem::path> kept_;  // the newest first
    std::exception_ptr failure_;
    std::atomic<double> seconds_on_disk_{0};
    std::jthread writer_;  // joined before any of the others is touched
};

}  // namespace wasp
