/// What becomes known among nodes of how their ranks are: a table of all ranks' heartbeats on every
/// node, which its ranks fill in for themselves, and the word that a rank failed. Every rank reads,
/// a few times in --stall-timeout, the table of another node, and copies what is newer than what
/// its own node knows: of N nodes, those at distances 1, 2, 4 … in turn, so that news is everywhere
/// after log2 N rounds. Table and word lie in memory of the node, and in a window of each of its
/// ranks: any of them that still answers will do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cluster/heartbeat.hpp"
#include "mpi_locked_window.hpp"

namespace wasp {

class MpiNews {
public:
    /// Of memory that a node's ranks share; zero before the first of them comes.
    static std::size_t bytes(int ranks);

    /// ranks: of all nodes, by node; mine is `node`, on which I am number `me`. With one node, no
    /// window is made.
    /// Collective.
    MpiNews(std::span<std::byte> memory, std::vector<std::vector<int>> ranks, int node, int me);

    /// Collective, where there are several nodes.
    void open_window(Cluster& cluster);

    std::span<HeartbeatRecord> table() const { return table_; }

    /// Cheap while there is nothing to do.   seconds: now; limit: --stall-timeout.
    void get_on(double seconds, double limit);

    /// To all other nodes: a rank failed. Returns at once; whoever can hear it will.
    void tell_failure();
    bool heard_of_failure() const { return failure_->load(std::memory_order_relaxed) != 0; }
    /// Where several nodes had one at the same time, the lowest speaks.
    bool another_node_speaks() const {
        const auto teller = failure_->load(std::memory_order_relaxed);
        return teller != 0 && teller <= node_;
    }

private:
    /// A look at a table that is under way.
    struct Look {
        int whom = -1;
        std::vector<std::uint64_t> words;
        MPI_Request request = MPI_REQUEST_NULL;
    };

    void take_in(const Look& look);
    void look_at(std::size_t distance);
    std::size_t words() const { return table_.size() * HeartbeatRecord::words; }

    std::span<std::byte> memory_;
    std::span<HeartbeatRecord> table_;
    std::atomic<std::uint64_t>* failure_;
    std::vector<std::vector<int>> ranks_;
    std::size_t node_, me_;
    std::vector<bool> near_;  // by rank
    std::optional<LockedWindow> window_;
    std::vector<Look> looks_;  // several for each distance: one may wait for a rank that is gone
    std::size_t round_ = 0;
    double last_look_ = 0, last_test_ = 0;
    std::uint64_t teller_;  // my node, counted from 1
};

}  // namespace wasp
