#include "shared_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/error.hpp"
#include "divergence.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

SharedWeights::SharedWeights(const ProtocolSetup& setup, const Team& team, SharedRule rule)
    : cluster_(setup.cluster),
      sgd_(setup.sgd),
      team_(team),
      rule_(std::move(rule)),
      centre_(setup, team),
      meeting_(setup.cluster, servers_of(setup, team)),
      compression_(setup.compression),
      planned_steps_(setup.planned_steps),
      versions_between_(rule_.period < never / team.workers ? rule_.period * team.workers : never),
      next_synchronisation_(versions_between_) {
    rule_.server.momentum = setup.momentum_at_server && setup.sgd.momentum() > 0;
    if (rule_.server.needed()) server_.emplace(setup, team, rule_.server, centre_);
    if (rule_.unit_mass) unit_mass_.emplace(team.workers);
    if (rule_.period != never) before_.resize(setup.weights.size());
    if (rule_.push_every > 1) unpushed_.resize(setup.weights.size());
    if (compression_.kind != Compression::Kind::none)
        compressor_.emplace(compression_, setup.weights.size());
    const bool pushes_each_step = rule_.push_every == 1 && !server_ && rule_.drop_from == never;
    if (setup.overlap && pushes_each_step) buckets_.emplace(setup.weights.size());
    const bool any_order = !rule_.server.synchronous;
    if (team.worker == 0 && any_order && rule_.drop_from < team.workers)
        fmt::print(
            stderr,
            "wasp: warning: R={} throws away gradients that are as stale as usual: {} workers "
            "have a staleness of about {}; choose R above that\n",
            rule_.drop_from, team.workers, team.workers - 1);
}

/// The ticket is taken for the first slice, so that all have the same weight. A gradient that is
/// not finite goes the usual way, or none, once its worker has seen the loss.
void SharedWeights::gradient_ready(Replica replica, std::size_t offset, std::size_t count) {
    if (!buckets_) return;
    if (!buckets_->started()) {
        under_way_.reset();
        if (all_finite(replica.gradients.subspan(offset, count))) take_ticket(under_way_.emplace());
    }
    buckets_->add(offset, count, [&](std::size_t first, std::size_t size) {
        if (!under_way_) return;
        const auto step = sgd_.update_slice(first, replica.gradients.subspan(first, size),
                                            replica.weights.subspan(first, size));
        centre_.store().push_slice(under_way_->weight, first, compressed(first, step));
    });
}

Exchange SharedWeights::exchange(Replica replica, float /*loss*/) {
    Exchange record;
    record.version = version_;
    ++steps_;
    bring_step(replica, record);
    pass_gate(record);

    const std::int64_t now = centre_.store().version();  // before the pull: s is over-estimated
    if (synchronisation_is_due(now)) {
        synchronise(replica.weights, record);
    } else if (steps_ % rule_.pull_every == 0) {
        Laps laps(cluster_);
        centre_.store().pull(replica.weights);
        version_ = now;
        record.pull_seconds = laps.lap();
        record.bytes += centre_.bytes_away();
    }
    return record;
}

void SharedWeights::bring_step(Replica replica, Exchange& record) {
    if (buckets_) buckets_->restart();
    if (under_way_) return finish_push(record);
    if (rule_.push_every > 1) {
        step_alone(replica);
        record.pushed = steps_ % rule_.push_every == 0 || steps_ == planned_steps_;
        if (!record.pushed) return;
    }
    if (server_) return push_through_server(replica, record);
    if (rule_.drop_from != never && must_be_dropped(centre_.store().issued() - version_, record))
        return;
    push(rule_.push_every > 1 ? unpushed_ : sgd_.update(replica.gradients, replica.weights),
         record);
    std::ranges::fill(unpushed_, 0.0F);
}

/// On my replica only; what it came to is pushed later.
void SharedWeights::step_alone(Replica replica) {
    const auto step = rule_.server.momentum ? sgd_.descent(replica.gradients, replica.weights)
                                            : sgd_.update(replica.gradients, replica.weights);
    axpy(1.0F, step, replica.weights);
    axpy(1.0F, step, unpushed_);
}

/// Then it takes no ticket, and leaves no trace in the momentum.
bool SharedWeights::must_be_dropped(std::int64_t staleness, Exchange& record) const {
    record.staleness = staleness;
    if (staleness < rule_.drop_from) return false;
    record.weight = 0;
    record.pushed = false;
    return true;
}

void SharedWeights::push(std::span<const float> step, Exchange& record) {
    Laps laps(cluster_);
    take_ticket(record);
    centre_.store().push(record.weight, compressed(0, step));
    record.push_seconds = laps.lap();
    record.bytes += pushed_bytes();
    warn_when_stalled(record.weight);
}

std::span<const float> SharedWeights::compressed(std::size_t offset, std::span<const float> step) {
    return compressor_ ? compressor_->compress(offset, step) : step;
}

/// Of an update, those for weights that lie on other ranks.
std::int64_t SharedWeights::pushed_bytes() {
    return static_cast<std::int64_t>(compression_.share(centre_.store().size()) *
                                     static_cast<double>(centre_.bytes_away()));
}

void SharedWeights::take_ticket(Exchange& record) {
    record.staleness = centre_.store().issue() - version_;
    record.weight = weight_of(record.staleness);
}

float SharedWeights::weight_of(std::int64_t staleness) {
    const double weight = rule_.weight(staleness);
    return static_cast<float>(unit_mass_ ? unit_mass_->divide(weight) : weight);
}

/// Of what left layer by layer.
void SharedWeights::finish_push(Exchange& record) {
    Laps laps(cluster_);
    centre_.store().finish_push();
    record.staleness = under_way_->staleness;
    record.weight = under_way_->weight;
    under_way_.reset();
    record.push_seconds = laps.lap();
    record.bytes += pushed_bytes();
    warn_when_stalled(record.weight);
}

void SharedWeights::push_through_server(Replica replica, Exchange& record) {
    Laps laps(cluster_);
    server_->enter();
    record.wait_seconds = laps.lap();
    if (!must_be_dropped(centre_.store().version() - version_, record)) {
        record.weight = weight_of(record.staleness);
        server_->receive(rule_.push_every > 1 ? unpushed_ : server_->my_step(replica),
                         record.weight);
        record.weight /= static_cast<float>(rule_.server.group);
        warn_when_stalled(record.weight);
    }
    server_->leave();
    std::ranges::fill(unpushed_, 0.0F);
    record.push_seconds = laps.lap();
    record.bytes += server_->take_bytes();
}

void SharedWeights::pass_gate(Exchange& record) {
    Laps laps(cluster_);
    if (rule_.lead != never) {
        centre_.clocks().tick();
        centre_.clocks().wait_for_slowest(centre_.clocks().mine() - rule_.lead);
    }
    if (rule_.server.synchronous) server_->wait_for_group(version_);
    record.wait_seconds += laps.lap();
}

bool SharedWeights::synchronisation_is_due(std::int64_t version) const {
    if (rule_.period == never) return false;
    return rule_.trigger == Trigger::iterations ? steps_ % rule_.period == 0
                                                : version >= next_synchronisation_;
}

void SharedWeights::synchronise(std::span<float> weights, Exchange& record) {
    Laps laps(cluster_);
    meeting_.meet(centre_.progress());  // every push has landed, and nobody pushes …
    record.wait_seconds += laps.lap();
    version_ = centre_.store().version();
    ENSURE(version_ == centre_.store().issued(),
           "forced synchronisation: {} updates announced, but {} landed", centre_.store().issued(),
           version_);
    copy(weights, before_);
    centre_.store().pull(weights);
    record.pull_seconds = laps.lap();
    record.divergence = divergence(before_, weights);
    laps.lap();
    meeting_.meet(centre_.progress());  // … before all have pulled
    record.wait_seconds += laps.lap();
    record.bytes += centre_.bytes_away();
    next_synchronisation_ = (version_ / versions_between_ + 1) * versions_between_;
}

/// Who is late for a group of `backup` joins that of the version where the others stand; between
/// two synchronisations that the version brings about, workers make different numbers of steps.
std::int64_t SharedWeights::place(std::int64_t step) const {
    if (rule_.server.synchronous) return version_;
    const bool by_version = rule_.period != never && rule_.trigger == Trigger::versions;
    return by_version ? meeting_.met() : step;
}

bool SharedWeights::retire() {
    if (under_way_) centre_.store().finish_push();  // of a worker that stopped after computing
    under_way_.reset();
    if (!team_.worker || centre_.has_retired()) return true;
    meeting_.retire();
    if (server_) server_->retire();
    centre_.retire();
    return true;
}

void SharedWeights::finish(Replica replica) {
    retire();
    version_ = centre_.finish(replica.weights);
}

void SharedWeights::visit(State& state) {
    centre_.visit(state);
    meeting_.visit(state);
    if (rule_.server.correction && rule_.server.correction->visit)
        rule_.server.correction->visit(state);
    if (compressor_) compressor_->visit(state);
    state.values("unpushed", std::span<float>(unpushed_));
    state.value("steps", steps_);
    state.value("version", version_);
    state.value("next_synchronisation", next_synchronisation_);
    state.value("pushes", pushes_);
    state.value("weight_sum", weight_sum_);
    if (unit_mass_) unit_mass_->visit(state);
}

/// One worker says once that weights near zero hold training up; not where they are to sum up to 1.
void SharedWeights::warn_when_stalled(float weight) {
    constexpr std::int64_t enough = 100;
    constexpr double least = 1e-3;
    weight_sum_ += static_cast<double>(weight);
    const double mean = weight_sum_ / static_cast<double>(++pushes_);
    if (unit_mass_ || warned_ || team_.worker != 0 || pushes_ < enough || mean >= least) return;
    fmt::print(stderr,
               "warning: updates count only {:.1e} on average; training stalls: choose a weight "
               "function that falls more slowly\n",
               mean);
    warned_ = true;
}

}  // namespace wasp
