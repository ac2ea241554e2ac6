#include "own_weights.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cluster/laps.hpp"
#include "divergence.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

OwnWeights::OwnWeights(const ProtocolSetup& setup, OwnRule rule)
    : cluster_(setup.cluster),
      sgd_(setup.sgd),
      rule_(std::move(rule)),
      peers_(setup.cluster, setup.weights.size()),
      models_(rule_.most_peers, AlignedFloats(setup.weights.size())),
      target_(models_.empty() ? 0 : setup.weights.size()),
      planned_steps_(setup.planned_steps) {}

Exchange OwnWeights::exchange(Replica replica, float loss) {
    smooth(loss);
    const bool due = !models_.empty() && (step_ + rule_.offset) % rule_.period == 0;
    if (rule_.inner) {
        Exchange record = step_with_others(replica, loss);
        if (due) publish_and_look(replica.weights, record);
        return record;
    }
    Exchange record;
    record.version = step_ - 1;
    record.pushed = false;
    const auto step = my_step(replica);
    if (due && rule_.order == Order::move_first) publish_look_and_move(replica.weights, record);
    axpy(1.0F, step, replica.weights);
    if (due && rule_.order == Order::step_first) publish_look_and_move(replica.weights, record);
    peers_.show_a_sign_of_life();
    return record;
}

void OwnWeights::visit(State& state) {
    peers_.visit(state);
    if (rule_.visit) rule_.visit(state);
    state.values("target", std::span<float>(target_));
    state.value("pull", pull_);
    state.value("step", step_);
    state.value("loss", loss_);
}

void OwnWeights::smooth(float loss) {
    const auto s = static_cast<float>(rule_.smoothing);
    loss_ = step_ == 0 ? loss : s * loss_ + (1 - s) * loss;
    ++step_;
}

/// The vector to add to the weights.
std::span<const float> OwnWeights::my_step(Replica replica) {
    const auto update = sgd_.update(replica.gradients, replica.weights);
    if (pull_ > 0 && rule_.apply == Apply::velocity) {
        const float pressure = (1 - sgd_.momentum()) * strength();
        axpy(pressure, target_, sgd_.velocity());
        axpy(-pressure, replica.weights, sgd_.velocity());
    }
    return update;  // a view of the velocity
}

/// What was seen last pulls once: with momentum μ a step of (1−μ)·d moves by d in the end.
Exchange OwnWeights::step_with_others(Replica replica, float loss) {
    if (pull_ > 0 && strength() > 0 && sgd_.learning_rate() > 0) {
        const float pull = (1 - sgd_.momentum()) * strength() / sgd_.learning_rate();
        axpy(-pull, target_, replica.gradients);
        axpy(pull, replica.weights, replica.gradients);
    }
    pull_ = 0;
    Exchange record = rule_.inner->exchange(replica, loss);
    peers_.show_a_sign_of_life();
    return record;
}

void OwnWeights::publish_look_and_move(std::span<float> weights, Exchange& record) {
    publish_and_look(weights, record);
    if (rule_.apply == Apply::position && strength() > 0)
        move_towards(strength(), target_, weights);
}

void OwnWeights::publish_and_look(std::span<const float> weights, Exchange& record) {
    Laps laps(cluster_);
    peers_.publish(step_, loss_, weights);
    record.push_seconds += laps.lap();
    look(record);
    if (pull_ > 0) record.divergence = divergence(target_, weights);
}

void OwnWeights::look(Exchange& record) {
    Laps laps(cluster_);
    const auto ranks = rule_.whom(step_, loss_);
    if (rule_.wait)
        for (const int rank : ranks) peers_.wait_for(rank, peers_.published());
    record.wait_seconds += laps.lap();

    std::vector<Sight> seen;
    std::int64_t age = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const std::span<float> model = models_[i];
        const auto publication = look_at(ranks[i], model);
        if (!publication) continue;
        record.bytes += static_cast<std::int64_t>(model.size_bytes());
        age = std::max(age, step_ - publication->step);
        if (can_be_followed(*publication, ranks[i], model))
            seen.push_back({publication->loss, model});
        else
            ++record.skipped;
    }
    pull_ = seen.empty() ? 0 : rule_.target(seen, loss_, target_);
    record.pull_seconds += laps.lap();
    if (!rule_.inner) record.staleness = age;
}

std::optional<Publication> OwnWeights::look_at(int rank, std::span<float> model) {
    const bool by_number = rule_.wait && peers_.has_published(rank, peers_.published());
    return by_number ? peers_.look(rank, peers_.published(), model) : peers_.look(rank, model);
}

bool OwnWeights::can_be_followed(const Publication& publication, int rank,
                                 std::span<const float> model) {
    if (!std::isfinite(publication.loss) || !all_finite(model)) return false;
    return step_ - publication.step <= rule_.max_age || peers_.retired(rank);
}

/// Of the pull at this moment.
float OwnWeights::strength() const {
    if (planned_steps_ <= 0) return pull_ * static_cast<float>(rule_.strength.start);
    const double progress = static_cast<double>(step_) / static_cast<double>(planned_steps_);
    return pull_ * static_cast<float>(rule_.strength.at(std::min(progress, 1.0)));
}

bool OwnWeights::retire() {
    if (rule_.inner && !rule_.inner->retire()) return false;
    peers_.retire();
    return true;
}

void OwnWeights::finish(Replica replica) {
    if (rule_.inner) rule_.inner->finish(replica);
    peers_.finish();
}

std::vector<int> ring_neighbours(int rank, int ranks) {
    const int left = (rank + ranks - 1) % ranks;
    const int right = (rank + 1) % ranks;
    if (ranks == 1) return {};
    if (left == right) return {left};
    return {left, right};
}

Whom always(std::vector<int> ranks) {
    return [ranks = std::move(ranks)](std::int64_t /*step*/, float /*my_loss*/) {
        return std::span<const int>(ranks);
    };
}

void weighted_mean(std::span<const Sight> seen, std::span<const double> shares,
                   std::span<float> target) {
    double sum = 0;
    for (const double share : shares) sum += share;
    copy(seen[0].model, target);
    scale(static_cast<float>(shares[0] / sum), target);
    for (std::size_t i = 1; i < seen.size(); ++i)
        axpy(static_cast<float>(shares[i] / sum), seen[i].model, target);
}

float mean_target(std::span<const Sight> seen, float /*my_loss*/, std::span<float> target) {
    weighted_mean(seen, std::vector<double>(seen.size(), 1.0), target);
    return 1;
}

float best_target(std::span<const Sight> seen, float my_loss, std::span<float> target) {
    const auto best = std::ranges::min_element(seen, {}, &Sight::loss);
    if (best->loss >= my_loss) return 0;
    copy(best->model, target);
    return 1;
}

}  // namespace wasp
