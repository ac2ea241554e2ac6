#include "shared_weights.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "base/error.hpp"

namespace wasp {

namespace {

int servers_of(const ProtocolSetup& setup, const Team& team) {
    return setup.cluster.size() - team.workers;
}

/// Ranks that hold shards: the servers, or everyone.
int owners_of(const ProtocolSetup& setup, const Team& team) {
    const int servers = servers_of(setup, team);
    return servers > 0 ? servers : setup.cluster.size();
}

}  // namespace

SharedWeights::SharedWeights(const ProtocolSetup& setup, const Team& team, SharedRule rule)
    : cluster_(setup.cluster),
      sgd_(setup.sgd),
      team_(team),
      rule_(std::move(rule)),
      store_(setup.cluster, setup.weights, owners_of(setup, team)),
      clocks_(setup.cluster, servers_of(setup, team)),
      meeting_(setup.cluster, servers_of(setup, team)),
      progress_([this] { return store_.version(); }),
      bytes_away_(static_cast<std::int64_t>((store_.size() - store_.size_here()) * sizeof(float))),
      versions_between_(rule_.period < never / team.workers ? rule_.period * team.workers : never),
      next_synchronisation_(versions_between_) {}

Exchange SharedWeights::exchange(Replica replica, float /*loss*/) {
    Exchange record;
    record.version = version_;
    push(replica, record);
    ++steps_;

    Laps laps(cluster_);
    if (rule_.lead != never) {
        clocks_.tick();
        clocks_.wait_for_slowest(clocks_.mine() - rule_.lead);
        record.wait_seconds = laps.lap();
    }

    version_ = store_.version();  // before the pull, so that s can only be over-estimated
    if (synchronisation_is_due()) {
        synchronise(replica.weights, record, laps);
    } else {
        store_.pull(replica.weights);
        record.pull_seconds = laps.lap();
    }
    record.bytes += bytes_away_;
    return record;
}

void SharedWeights::push(Replica replica, Exchange& record) {
    if (rule_.drop_from != never) {
        record.staleness = store_.issued() - version_;
        if (record.staleness >= rule_.drop_from) {  // no ticket, and no trace in the momentum
            record.weight = 0;
            record.pushed = false;
            return;
        }
    }
    const auto update = sgd_.update(replica.gradients, replica.weights);
    Laps laps(cluster_);
    record.staleness = store_.issue() - version_;
    record.weight = static_cast<float>(rule_.weight(record.staleness));
    store_.push(record.weight, update);
    record.push_seconds = laps.lap();
    record.bytes += bytes_away_;
    warn_when_stalled(record.weight);
}

bool SharedWeights::synchronisation_is_due() const {
    if (rule_.period == never) return false;
    return rule_.trigger == Trigger::iterations ? steps_ % rule_.period == 0
                                                : version_ >= next_synchronisation_;
}

void SharedWeights::synchronise(std::span<float> weights, Exchange& record, Laps& laps) {
    meeting_.meet(progress_);  // every push has landed, and nobody pushes …
    record.wait_seconds += laps.lap();
    version_ = store_.version();
    ENSURE(version_ == store_.issued(),
           "forced synchronisation: {} updates announced, but {} landed", store_.issued(),
           version_);
    store_.pull(weights);
    record.pull_seconds = laps.lap();
    meeting_.meet(progress_);  // … before all have pulled
    record.wait_seconds += laps.lap();
    next_synchronisation_ = (version_ / versions_between_ + 1) * versions_between_;
}

void SharedWeights::finish(Replica replica) {
    if (team_.worker) {
        meeting_.retire();
        clocks_.retire();
    }
    clocks_.wait_for_all_retired(progress_);
    version_ = store_.version();
    ENSURE(version_ == store_.issued(), "end of training: {} updates announced, but {} landed",
           store_.issued(), version_);
    store_.pull(replica.weights);
    cluster_.barrier();  // all have pulled: no one needs my part of the weights any more
}

/// One worker says once that weights near zero hold training up.
void SharedWeights::warn_when_stalled(float weight) {
    constexpr std::int64_t enough = 100;
    constexpr double least = 1e-3;
    weight_sum_ += static_cast<double>(weight);
    const double mean = weight_sum_ / static_cast<double>(++pushes_);
    if (warned_ || team_.worker != 0 || pushes_ < enough || mean >= least) return;
    fmt::print(stderr,
               "warning: updates count only {:.1e} on average; training stalls: choose a weight "
               "function that falls more slowly\n",
               mean);
    warned_ = true;
}

}  // namespace wasp
