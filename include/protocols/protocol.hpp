/// How one worker's gradient becomes everyone's weights. One protocol = one file in src/protocols/
/// plus one row in its table. The same object runs on MPI and on threads.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/state.hpp"
#include "cluster/cluster.hpp"
#include "protocols/compression.hpp"
#include "protocols/sgd.hpp"

namespace wasp {

/// The part of a worker that a protocol may touch. Both: (n).
struct Replica {
    std::span<float> weights;
    std::span<float> gradients;  ///< mean over my mini-batch; the protocol may overwrite it
};

/// What one exchange did. Seconds are of this rank.
struct Exchange {
    std::int64_t version = 0;    ///< of the weights that the gradient was computed on
    std::int64_t staleness = 0;  ///< updates of others in between; for own-weights protocols the
                                 ///< neighbours' age in steps
    float weight = 1;            ///< what the update was scaled with; 0: dropped
    bool pushed = true;          ///< an update of shared weights was made
    double pull_seconds = 0, push_seconds = 0, wait_seconds = 0;
    std::int64_t bytes = 0;  ///< moved between ranks
    int skipped = 0;         ///< neighbours that were not followed: NaN, or too old
    /// How far my replica was from what it was synchronised with, or pulled towards: the root mean
    /// square of the difference of a weight. NaN: it was not.
    double divergence = std::numeric_limits<double>::quiet_NaN();
};

class Protocol {
public:
    virtual ~Protocol() = default;

    /// During the backward pass, where ProtocolSetup::overlap: replica.gradients[offset, offset +
    /// count) are final, and may be overwritten. All of them are before exchange().
    virtual void gradient_ready(Replica /*replica*/, std::size_t /*offset*/,
                                std::size_t /*count*/) {}
    /// Between layers: what is under way may get on.
    virtual void between_layers() {}

    /// Once after every backward pass. On return replica.weights are those of the next step.
    /// loss: mean over my mini-batch.
    virtual Exchange exchange(Replica replica, float loss) = 0;

    /// Where a worker that is to make `step` next stands, for checkpoints: it never gets less, and
    /// while all stand at the same place, none waits in a step for another. A worker at a lower
    /// place than the highest that anybody has left comes to the next one by going on.
    virtual std::int64_t place(std::int64_t step) const { return step; }

    /// After the last step, before finish(): the others wait for no step of mine any more. Returns
    /// whether they get on without me; else I have to go to finish() at once. May be called again.
    virtual bool retire() { return false; }

    /// Once after the last step (a rank that does not train: at once, it serves the others until
    /// they are done). On return replica.weights are the run's result (own-weights protocols: this
    /// rank's model), and no other rank waits for me any more.
    virtual void finish(Replica replica) = 0;

    /// What the run would end with if it ended now; empty: the replica of this rank.
    virtual std::vector<float> result_so_far() { return {}; }

    /// The gradients of all workers that the weights I train on are made of; empty where each
    /// worker's own steps tell how far the run is.
    virtual std::optional<std::int64_t> gradients_so_far() const { return std::nullopt; }

    /// Updates applied to the shared weights so far, as this rank last saw them.
    virtual std::int64_t version() const = 0;

    /// What this rank keeps from one step to the next, but for what lies in windows and counters.
    virtual void visit(State& state) = 0;
};

/// Who trains. Ranks [0, size − workers) are servers.
struct Team {
    int workers = 1;
    std::optional<int> worker;  ///< my number among the workers; empty on a server
};

struct ProtocolSetup {
    Cluster& cluster;
    Sgd& sgd;
    std::span<const float> weights;  ///< (n), the initial ones, equal on all ranks
    std::uint64_t seed = 1;
    std::int64_t planned_steps = 0;   ///< of this worker, for rules that change over the run
    bool momentum_at_server = false;  ///< of the shared weights, instead of one at each worker
    bool overlap = false;             ///< gradient_ready() will be called
    Compression compression = {};     ///< of what is pushed to shared weights
    std::size_t shard_bytes = 0;      ///< of shared weights: see ParameterStore
};

/// A parsed spec: what can be known of a protocol without making it, so also before MPI starts.
struct ProtocolFacts {
    std::string name;
    bool shares_weights = true;        ///< false: each worker ends with its own model (NoSync)
    bool has_store = false;            ///< those shared lie in a ParameterStore
    bool full_shards = false;          ///< each worker is to see all data
    bool own_initialisation = false;   ///< each worker starts from another random model
    bool one_worker = false;           ///< it knows no others
    bool server_momentum = false;      ///< it can keep momentum at the server
    bool overlaps = false;             ///< gradients can leave layer by layer
    bool compresses = false;           ///< what is pushed can be made smaller
    bool can_pause = true;             ///< for checkpoints: there are places (Protocol::place())
    bool stands_between_steps = true;  ///< its places are the workers' steps
    int servers = 0;
    int groups = 0;                        ///< that train one model each; 0: there are none
    Team team(int rank, int ranks) const;  ///< Error: no worker is left, or too many
};

/// spec: "name" or "name:key=value,…", e.g. "wasp:period=50,weight=inverse".
/// Error: unknown name, key or value; the message names the nearest known one.
ProtocolFacts protocol_facts(std::string_view spec);

/// Collective.   Error: as protocol_facts().
std::unique_ptr<Protocol> make_protocol(std::string_view spec, const ProtocolSetup& setup);

/// The table of protocols as text: names, keys with defaults, rule and source.
std::string protocol_help();

}  // namespace wasp
