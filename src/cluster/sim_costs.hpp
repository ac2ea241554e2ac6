/// How long what ranks do to one another takes on the modelled machine. Knows no actors: it is told
/// what time it is.
#pragma once

#include <cstddef>
#include <vector>

#include "cluster/sim.hpp"

namespace wasp {

/// Serves one after another. `busy_until` grows when something is asked of it, not when that
/// arrives: a message that is still on its way holds up none that was sent later and is there
/// before.
class FifoResource {
public:
    /// Asked at `now` for `seconds` of work: seconds from now until that is done.
    double use(double now, double seconds) {
        busy_until_ = (now > busy_until_ ? now : busy_until_) + seconds;
        return busy_until_ - now;
    }

private:
    double busy_until_ = 0;
};

class SimCosts {
public:
    explicit SimCosts(const SimOptions& options);

    /// A call: when it takes effect where the memory is, and when the caller goes on.
    struct Call {
        double effect, done;
    };
    Call get(double now, int rank, int owner, std::size_t floats);
    Call put(double now, int rank, int owner, std::size_t floats);
    Call add(double now, int rank, int owner, std::size_t floats);
    Call count(double now, int rank, int owner, std::size_t counters);

    // From the arrival of the last rank, in seconds.
    double barrier() const;
    double sum(std::size_t bytes) const;
    double broadcast(std::size_t bytes) const;
    double gather(std::size_t bytes) const;  ///< bytes: of all ranks together

    /// The rank computes from `begin` to `end`.
    void computes(int rank, double begin, double end);
    /// Seconds that serving others took from a rank's computing since the last call.
    double take_stolen(int rank);

    int node_of(int rank) const { return rank / ranks_per_node_; }
    int nodes() const { return nodes_; }
    int ranks_per_node() const { return ranks_per_node_; }
    std::size_t bytes(std::size_t floats) const {
        return floats * options_.weights_per_float * sizeof(float);
    }

private:
    struct Node {
        FifoResource memory, out, in;
    };
    struct Rank {
        FifoResource service;
        double begin = 0, end = 0;  // of its present computing
        double stolen = 0;
    };

    Call near(double now, int rank, std::size_t floats, double speed);
    Call change(double now, int rank, int owner, std::size_t floats, double speed);
    double served(double arrival, Rank& owner, double now, double work);
    Node& node(int rank) { return node_[static_cast<std::size_t>(node_of(rank))]; }
    Rank& at(int rank) { return rank_[static_cast<std::size_t>(rank)]; }
    bool are_near(int rank, int owner) const { return node_of(rank) == node_of(owner); }

    SimOptions options_;
    const Machine& machine_ = options_.machine;
    int ranks_per_node_, nodes_;
    std::vector<Node> node_;
    std::vector<Rank> rank_;
};

}  // namespace wasp
