#include "recorder.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace wasp {

namespace {

constexpr std::int64_t most_rows = 10000;

}  // namespace

std::int64_t default_record_every(std::int64_t steps) {
    return std::max<std::int64_t>(1, (steps + most_rows - 1) / most_rows);
}

Recorder::Recorder(RankRow place, std::int64_t every, std::int64_t steps)
    : row_(std::move(place)), every_(every) {
    row_.steps.reserve(static_cast<std::size_t>((steps + every - 1) / every));
}

void Recorder::visit(State& state) {
    const auto visit_all = [&](auto&... values) { (state.value("recorded", values), ...); };
    visit_all(row_.samples, row_.updates, row_.weight_sum, row_.compute, row_.pull, row_.push,
              row_.wait, row_.poll, row_.data, row_.held_up, row_.bytes, row_.dropped,
              row_.divergence_sum, row_.synchronisations, every_, steps_, last_staleness_,
              recent_loss_);
    state.list("staleness", row_.staleness);
    state.list("steps", row_.steps);
}

bool Recorder::is_sound() const {
    return every_ > 0 && steps_ >= 0 && row_.samples >= 0 && row_.updates >= 0;
}

void Recorder::add(const Step& step) {
    const Exchange& exchange = step.exchange;
    row_.samples += step.samples;
    row_.data += step.data;
    row_.compute += step.compute;
    row_.poll += step.poll;
    row_.held_up += step.held_up;
    row_.pull += exchange.pull_seconds;
    row_.push += exchange.push_seconds;
    row_.wait += exchange.wait_seconds;
    row_.bytes += exchange.bytes;
    if (exchange.pushed) {
        ASSERT(exchange.staleness >= 0, "staleness {}", exchange.staleness);
        const auto staleness = static_cast<std::size_t>(exchange.staleness);
        if (staleness >= row_.staleness.size()) row_.staleness.resize(staleness + 1);
        ++row_.staleness[staleness];
        ++row_.updates;
        row_.weight_sum += static_cast<double>(exchange.weight);
    }
    if (exchange.weight == 0) ++row_.dropped;
    if (!std::isnan(exchange.divergence)) {
        row_.divergence_sum += exchange.divergence;
        ++row_.synchronisations;
    }
    last_staleness_ = exchange.staleness;

    constexpr double least_share = 0.02;
    const double share = std::max(least_share, 1.0 / static_cast<double>(steps_ + 1));
    recent_loss_ += share * (static_cast<double>(step.loss) - recent_loss_);

    if (steps_ % every_ == 0)
        row_.steps.push_back({step.end, step.loss, exchange.weight, exchange.version,
                              exchange.staleness, step.compute, exchange.pull_seconds,
                              exchange.push_seconds, exchange.wait_seconds, step.poll,
                              exchange.divergence});
    ++steps_;
}

}  // namespace wasp
