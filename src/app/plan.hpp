/// How long a worker's run is, and where in it a step lies.
#pragma once

#include <algorithm>
#include <cstdint>

#include "app/train_config.hpp"
#include "base/state.hpp"

namespace wasp {

class Plan {
public:
    /// sampler: of this worker.
    Plan(const TrainConfig& config, const Sampler& sampler, int workers);

    std::int64_t steps() const { return steps_; }
    double epochs() const { return epoch_before(steps_); }

    std::int64_t epoch(std::int64_t step) const { return step / batches_; }
    std::size_t batch(std::int64_t step) const { return static_cast<std::size_t>(step % batches_); }
    /// Images of a step's mini-batch.
    std::int64_t images(std::int64_t step) const {
        return std::min(batch_, images_ - step % batches_ * batch_);
    }
    /// Passes over this worker's shard, with fraction, made before `step`.
    double epoch_before(std::int64_t step) const;

private:
    std::int64_t images_, batches_, batch_;  // per epoch; images of a batch
    std::int64_t steps_ = 0;
};

/// When the next evaluation or checkpoint is due.
class IntervalTimer {
public:
    IntervalTimer(Interval interval, int workers) : interval_(interval), workers_(workers) {}

    /// To be asked after every step.   steps: made so far; epoch, seconds: at their end.
    bool due(std::int64_t steps, double epoch, double seconds);

    void visit(State& state) { state.value("intervals", passed_); }

private:
    Interval interval_;
    int workers_;
    double passed_ = 0;  // intervals
};

}  // namespace wasp
