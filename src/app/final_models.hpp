/// What a run ends with: its one model, or the models of the workers and what can be made of them.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "norm_statistics.hpp"
#include "report/results_file.hpp"
#include "run.hpp"

namespace wasp {

struct FinalModels {
    std::vector<ModelRow> rows;  ///< on the first worker's rank
    std::string chosen;          ///< the row whose weights run.model holds on return
    // Of the workers' own models; NaN where they have one.
    double disagreement = std::numeric_limits<double>::quiet_NaN();  ///< see EnsembleScore, on test
    double spread =
        std::numeric_limits<double>::quiet_NaN();  ///< mean |x − x̄| over |x̄|, of weights
};

/// Collective, after training; run.model holds the rank's final weights and running statistics.
/// One shared model: a row "shared". A model for each worker: a row "rank N" each, "best" (of them,
/// by validation loss), "mean" (of their weights) and "ensemble" (mean of their softmax outputs);
/// the chosen one is "best" or "mean", whichever has the lower validation loss. Test images choose
/// nothing, and are not looked at with --eval none. What was not evaluated is NaN.
FinalModels final_models(Run& run, NormStatistics& statistics);

}  // namespace wasp
