/// What became of a run, after all its ranks left the loop.
#pragma once

#include <filesystem>
#include <string>

#include "run.hpp"
#include "train_loop.hpp"

namespace wasp {

struct Verdict {
    enum class Checkpoint { none, written, failed };

    Reason reason = Reason::finished;  ///< never Reason::told
    int rank = 0;                      ///< whose reason it was
    std::int64_t step = 0;
    float loss = 0;
    Suspect suspect = {};  ///< where it diverged
    int signal = 0;
    Checkpoint checkpoint = Checkpoint::none;  ///< the last one; on the first worker's rank
    double seconds = 0;                        ///< of training, until the last worker was done

    std::string_view status() const;  ///< as the results file calls it
    /// Error: the run was stopped or diverged, with the exit code for it.
    void throw_if_ended_early(const std::filesystem::path& results, const Model& model,
                              const TimeLimit& limit) const;
};

/// Collective; the same on every rank. Divergence at any rank counts more than a signal, and that
/// more than a reached target.
Verdict judge(Run& run, const Ending& mine);

}  // namespace wasp
