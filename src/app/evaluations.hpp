/// The curve of a run: evaluations on the way, at once or put off until after training.
#pragma once

#include <optional>
#include <vector>

#include "norm_statistics.hpp"
#include "plan.hpp"
#include "report/results_file.hpp"
#include "run.hpp"
#include "scorer.hpp"
#include "snapshots.hpp"

namespace wasp {

class Evaluations {
public:
    Evaluations(Run& run, NormStatistics& statistics);

    /// Whether this worker evaluates now.   steps, epoch, seconds: as IntervalTimer::due().
    bool due(std::int64_t steps, double epoch, double seconds);

    /// Note down the model as it is. row: what is known of it but loss and accuracy.
    /// Returns the complete row when it was evaluated at once.
    std::optional<CurveRow> take(const CurveRow& row);

    /// Collective. The curve (on the first worker's rank) with what was put off, and `last`, the
    /// row of the final model; empty when that is not to be evaluated.
    std::vector<CurveRow> finish(const std::optional<CurveRow>& last);

    void visit(State& state);
    /// Evaluated so far.
    const std::vector<CurveRow>& curve() const { return curve_; }

    double inline_seconds() const { return inline_seconds_; }  ///< spent by this rank

private:
    CurveRow evaluate(CurveRow row);
    void copy_model(const CurveRow& row);
    std::vector<CurveRow> finish_shared();
    std::vector<CurveRow> finish_own();

    Run& run_;
    NormStatistics& statistics_;
    bool watches_;  // this rank's model belongs to the curve
    IntervalTimer timer_;
    Scorer test_;
    Snapshots snapshots_;
    std::vector<CurveRow> curve_;
    double inline_seconds_ = 0;
};

}  // namespace wasp
