/// What a run comes to: /summary of its results file. Nothing here reads a clock or a file.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "report/results_file.hpp"

namespace wasp {

struct StalenessSummary {  ///< of all updates; zeros when there is none
    double mean = 0;
    std::int64_t p50 = 0, p95 = 0, p99 = 0;  ///< the least s that so many percent do not exceed
    std::int64_t max = 0;
};

/// histogram: updates per staleness 0, 1, …
StalenessSummary summarise_staleness(std::span<const std::int64_t> histogram);

/// NaN: not known, as no evaluation was made or no target was set.
struct Summary {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

    int workers = 0;  ///< P: ranks that trained
    std::int64_t samples = 0, updates = 0, bytes = 0, dropped = 0;
    double training_seconds = 0, samples_per_second = 0;
    double final_accuracy = unknown, best_accuracy = unknown;  ///< 0…1, on the test set
    double final_loss = unknown, final_train_loss = unknown;
    double target_accuracy = unknown;
    bool reached = false;
    double time_to_accuracy = unknown;  ///< seconds at the first evaluation that reached the target
    double updates_to_accuracy = unknown, samples_to_accuracy = unknown;  ///< the same
    double seconds_per_update = unknown;  ///< of the version; where each rank has its own model, of
                                          ///< its steps
    double train_test_gap = unknown;      ///< final_loss − final_train_loss
    double divergence_mean = unknown;     ///< of the steps of all ranks that have one
    StalenessSummary staleness;

    /// Σ w over P updates, the mean round of a run: P · Σ w / updates, over the updates of all
    /// ranks. BSP: 1, ASP: P; at one learning rate the effective one is proportional to it.
    double step_mass = unknown;

    /// Of the workers' recorded time the share in which they waited for others:
    /// Σ wait / Σ (compute + pull + push + wait + poll + data).
    double idle_share = unknown;
};

/// Of results.curve and results.ranks.   training_seconds: without evaluation.
Summary summarise(const Results& results, double training_seconds,
                  std::optional<double> target_accuracy);

/// As they stand in the file.
Attributes as_attributes(const Summary& summary);

}  // namespace wasp
