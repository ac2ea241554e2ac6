#include "averaging.hpp"

#include <algorithm>
#include <array>

#include "cluster/laps.hpp"
#include "divergence.hpp"
#include "rounds.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

constexpr std::array velocities{Choice{"keep", "each worker keeps its own"},
                                Choice{"reset", "it starts from zero"},
                                Choice{"mean", "all take the mean"}};

}  // namespace

Key local_velocity_key() {
    return {.name = "velocity",
            .kind = Key::Kind::choice,
            .fallback = "keep",
            .choices = velocities,
            .meaning = "of SGD's momentum, when the mean model is taken:"};
}

LocalVelocity local_velocity(const Settings& settings) {
    if (settings.chosen("velocity", "reset")) return LocalVelocity::reset;
    return settings.chosen("velocity", "mean") ? LocalVelocity::mean : LocalVelocity::keep;
}

Averaging::Averaging(const ProtocolSetup& setup, const AveragingRule& rule)
    : cluster_(setup.cluster), sgd_(setup.sgd), rule_(rule), before_(setup.weights.size()) {
    if (!has_slow_momentum()) return;
    anchor_.assign(setup.weights.begin(), setup.weights.end());
    slow_step_.resize(setup.weights.size());
}

bool Averaging::has_slow_momentum() const {
    return rule_.slow_momentum != 0 || rule_.slow_rate != 1;
}

Exchange Averaging::exchange(Replica replica, float /*loss*/) {
    Exchange record;
    record.version = version_;
    record.pushed = false;
    axpy(1.0F, sgd_.update(replica.gradients, replica.weights), replica.weights);
    ++steps_;
    ++steps_since_;
    if (due()) average(replica, true, record);
    return record;
}

bool Averaging::due() const {
    if (steps_ <= rule_.every_step_till) return true;
    return (steps_ - rule_.every_step_till) % rule_.period == 0;
}

/// Collective. Returns whether anyone contributed.
bool Averaging::average(Replica replica, bool active, Exchange& record) {
    Laps laps(cluster_);
    const Round round = meet(cluster_, active ? 1 : 0, sgd_.learning_rate());
    record.wait_seconds = laps.lap();
    if (round.active == 0) return false;
    copy(replica.weights, before_);
    laps.lap();
    take_mean(replica.weights, active, round.share(), record);
    if (rule_.velocity == LocalVelocity::mean)
        take_mean(sgd_.velocity(), active, round.share(), record);
    record.push_seconds = laps.lap();
    if (rule_.velocity == LocalVelocity::reset) std::ranges::fill(sgd_.velocity(), 0.0F);
    if (has_slow_momentum()) move_slowly(replica.weights, static_cast<float>(round.rate));
    record.divergence = divergence(before_, replica.weights);
    record.pushed = active;
    record.weight = round.share();
    steps_since_ = 0;
    ++version_;
    return true;
}

void Averaging::take_mean(std::span<float> values, bool active, float share, Exchange& record) {
    if (!active) std::ranges::fill(values, 0.0F);
    cluster_.sum(values);
    scale(share, values);
    if (cluster_.size() > 1) record.bytes += static_cast<std::int64_t>(2 * values.size_bytes());
}

/// weights: the mean of all models.
void Averaging::move_slowly(std::span<float> weights, float rate) {
    const bool rescale = rule_.slow_follows_rate && last_rate_ > 0;
    scale(rescale ? rule_.slow_momentum * (rate / last_rate_) : rule_.slow_momentum, slow_step_);
    axpy(rule_.slow_rate, weights, slow_step_);
    axpy(-rule_.slow_rate, anchor_, slow_step_);
    if (rule_.look_ahead) {  // a is where all started, a + β·Δ: it moves by α·(m − a) + β·Δ
        axpy(-1.0F, anchor_, weights);
        axpy(rule_.slow_rate, weights, anchor_);
        axpy(rule_.slow_momentum, slow_step_, anchor_);
    } else {
        axpy(1.0F, slow_step_, anchor_);
    }
    copy(anchor_, weights);
    last_rate_ = rate;
}

void Averaging::visit(State& state) {
    state.values("anchor", std::span<float>(anchor_));
    state.values("slow_step", std::span<float>(slow_step_));
    state.value("last_rate", last_rate_);
    state.value("steps", steps_);
    state.value("steps_since", steps_since_);
    state.value("version", version_);
}

/// Who has steps since the last mean brings them in; then it goes on with nothing until all are
/// done.
void Averaging::finish(Replica replica) {
    bool active = steps_since_ > 0;
    Exchange unrecorded;
    while (average(replica, active, unrecorded)) active = false;
}

}  // namespace wasp
