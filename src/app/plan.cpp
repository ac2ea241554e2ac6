#include "plan.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace wasp {

namespace {

/// The share of one worker of `count`, rounded up.
std::int64_t share(std::int64_t count, int workers) {
    return (count + workers - 1) / workers;
}

}  // namespace

Plan::Plan(const TrainConfig& config, const Sampler& sampler, int workers)
    : images_(static_cast<std::int64_t>(sampler.images_per_epoch())),
      batches_(std::max<std::int64_t>(1, static_cast<std::int64_t>(sampler.batches_per_epoch()))),
      batch_(config.batch) {
    if (images_ == 0) return;
    if (config.epochs) steps_ = *config.epochs * batches_;
    if (config.updates) steps_ = share(*config.updates, workers);
    if (config.samples) {
        const auto images = share(*config.samples, workers);
        steps_ = images / images_ * batches_ + (images % images_ + batch_ - 1) / batch_;
    }
}

double Plan::epoch_before(std::int64_t step) const {
    const auto epochs = step / batches_;
    const auto images = std::min(step % batches_ * batch_, images_);
    return static_cast<double>(epochs) +
           static_cast<double>(images) / static_cast<double>(std::max<std::int64_t>(1, images_));
}

bool IntervalTimer::due(std::int64_t steps, double epoch, double seconds) {
    double progress = seconds;
    if (interval_.unit == Interval::Unit::epochs) progress = epoch;
    if (interval_.unit == Interval::Unit::updates) progress = static_cast<double>(steps * workers_);
    constexpr double rounding = 1e-9;
    const double passed = std::floor(progress / interval_.count + rounding);
    return passed > std::exchange(passed_, std::max(passed, passed_));
}

}  // namespace wasp
