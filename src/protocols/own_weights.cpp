#include "own_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "laps.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

OwnWeights::OwnWeights(const ProtocolSetup& setup, OwnRule rule)
    : cluster_(setup.cluster),
      sgd_(setup.sgd),
      rule_(std::move(rule)),
      board_(setup.cluster, setup.weights.size()),
      clocks_(setup.cluster),
      progress_([this] { return clocks_.slowest(); }),
      target_(rule_.neighbours.empty() ? 0 : setup.weights.size()),
      planned_steps_(setup.planned_steps),
      last_sign_(setup.cluster.seconds()) {
    for (const int rank : rule_.neighbours)
        peers_.push_back({rank, AlignedFloats(setup.weights.size())});
}

Exchange OwnWeights::exchange(Replica replica, float loss) {
    Exchange record;
    record.version = step_;
    record.pushed = false;

    step_alone(replica, loss);
    if (!peers_.empty() && (step_ + rule_.offset) % rule_.period == 0) {
        publish_and_look(replica.weights, record);
        if (has_target_ && rule_.apply == Apply::position && strength() > 0)
            move_towards(strength(), target_, replica.weights);
    }
    show_a_sign_of_life();
    return record;
}

void OwnWeights::step_alone(Replica replica, float loss) {
    const auto s = static_cast<float>(rule_.smoothing);
    loss_ = step_ == 0 ? loss : s * loss_ + (1 - s) * loss;
    ++step_;
    const auto update = sgd_.update(replica.gradients, replica.weights);
    if (has_target_ && rule_.apply == Apply::velocity) {
        const float pressure = (1 - sgd_.momentum()) * strength();
        axpy(pressure, target_, sgd_.velocity());
        axpy(-pressure, replica.weights, sgd_.velocity());
    }
    axpy(1.0F, update, replica.weights);  // a view of the velocity
}

void OwnWeights::publish_and_look(std::span<const float> weights, Exchange& record) {
    Laps laps(cluster_);
    board_.publish(step_, loss_, weights);
    ++published_;
    record.push_seconds = laps.lap();
    if (rule_.wait) wait_for_neighbours();
    record.wait_seconds = laps.lap();

    std::vector<Sight> seen;
    for (Peer& peer : peers_) {
        const auto publication = look(peer);
        if (!publication) continue;
        record.bytes += static_cast<std::int64_t>(std::span(peer.model).size_bytes());
        record.staleness = std::max(record.staleness, step_ - publication->step);
        if (can_be_followed(*publication, peer))
            seen.push_back({publication->loss, peer.model});
        else
            ++record.skipped;
    }
    has_target_ = !seen.empty() && rule_.target(seen, loss_, target_);
    record.pull_seconds = laps.lap();
}

/// Each has published as often as I have, or has finished.
void OwnWeights::wait_for_neighbours() {
    for (const Peer& peer : peers_)
        wait_until(
            cluster_,
            [&] {
                return board_.publications(peer.rank) >= published_ || clocks_.retired(peer.rank);
            },
            [&] { return fmt::format("publication {} of rank {}", published_, peer.rank); },
            progress_);
}

std::optional<Publication> OwnWeights::look(Peer& peer) {
    const bool by_number = rule_.wait && board_.publications(peer.rank) >= published_;
    return by_number ? board_.look(peer.rank, published_, peer.model)
                     : board_.look(peer.rank, peer.model);
}

bool OwnWeights::can_be_followed(const Publication& publication, const Peer& peer) {
    if (!std::isfinite(publication.loss) || !all_finite(peer.model)) return false;
    return step_ - publication.step <= rule_.max_age || clocks_.retired(peer.rank);
}

float OwnWeights::strength() const {
    if (planned_steps_ <= 0) return static_cast<float>(rule_.strength.start);
    const double progress = static_cast<double>(step_) / static_cast<double>(planned_steps_);
    return static_cast<float>(rule_.strength.at(std::min(progress, 1.0)));
}

/// Lets those who wait for me see that I go on, at next to no cost.
void OwnWeights::show_a_sign_of_life() {
    constexpr double signs_per_stall = 10;
    const double now = cluster_.seconds();
    if (now - last_sign_ < cluster_.stall_seconds() / signs_per_stall) return;
    clocks_.tick();
    last_sign_ = now;
}

void OwnWeights::finish(Replica /*replica*/) {
    clocks_.retire();
    clocks_.wait_for_all_retired(progress_);
}

}  // namespace wasp
