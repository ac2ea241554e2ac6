#include "centre.hpp"

#include "base/error.hpp"

namespace wasp {

namespace {

/// Ranks that hold shards: the servers, or everyone.
int owners_of(const ProtocolSetup& setup, const Team& team) {
    const int servers = servers_of(setup, team);
    return servers > 0 ? servers : setup.cluster.size();
}

}  // namespace

Centre::Centre(const ProtocolSetup& setup, const Team& team)
    : cluster_(setup.cluster),
      is_worker_(team.worker.has_value()),
      store_(setup.cluster, setup.weights, owners_of(setup, team), setup.shard_bytes),
      clocks_(setup.cluster, servers_of(setup, team)),
      progress_([this] { return store_.version(); }) {}

std::int64_t Centre::bytes_away() const {
    return static_cast<std::int64_t>((store_.size() - store_.size_here()) * sizeof(float));
}

std::int64_t Centre::finish(std::span<float> weights) {
    retire();
    clocks_.wait_for_all_retired(progress_);
    const std::int64_t version = store_.version();
    ENSURE(version == store_.issued(), "end of training: {} updates announced, but {} landed",
           store_.issued(), version);
    store_.pull(weights);
    cluster_.barrier();
    return version;
}

}  // namespace wasp
