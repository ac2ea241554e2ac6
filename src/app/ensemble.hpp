/// The committee of all workers' models: the mean of their softmax outputs.
#pragma once

#include "nn/model.hpp"
#include "run.hpp"
#include "scorer.hpp"

namespace wasp {

struct EnsembleScore {
    Score mine;      ///< of this worker's model alone
    Score ensemble;  ///< the same on every rank
    /// The share of (image, two models) whose answers differ; 0 for one model.
    double disagreement = 0;
};

/// Collective: every worker with its model, on all images of `scorer`.
EnsembleScore score_ensemble(Run& run, Scorer& scorer);

}  // namespace wasp
