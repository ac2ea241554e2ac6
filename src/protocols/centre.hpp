/// What protocols have whose workers share weights in a store: the store, everyone's clock, and the
/// end of training.
#pragma once

#include <cstdint>
#include <span>

#include "cluster/clocks.hpp"
#include "cluster/parameter_store.hpp"
#include "protocols/protocol.hpp"

namespace wasp {

class Centre {
public:
    /// Collective. Shards lie on the servers, if there are any, else on all ranks.
    Centre(const ProtocolSetup& setup, const Team& team);

    ParameterStore& store() { return store_; }
    Clocks& clocks() { return clocks_; }
    const Progress& progress() const { return progress_; }
    void visit(State& state) { clocks_.visit(state); }
    /// Of one copy of the weights, on other ranks.
    std::int64_t bytes_away() const;

    /// Collective: I am done, and wait for all others. On return `weights` are the shared ones, and
    /// no one needs my part of them any more. Returns their version.
    std::int64_t finish(std::span<float> weights);
    /// Nobody waits for a step of mine any more; also part of finish().
    void retire() {
        if (is_worker_) clocks_.retire();
    }
    bool has_retired() { return clocks_.retired(cluster_.rank()); }

private:
    Cluster& cluster_;
    bool is_worker_;
    ParameterStore store_;
    Clocks clocks_;
    Progress progress_;
};

/// Ranks that hold weights and do not train.
inline int servers_of(const ProtocolSetup& setup, const Team& team) {
    return setup.cluster.size() - team.workers;
}

}  // namespace wasp
