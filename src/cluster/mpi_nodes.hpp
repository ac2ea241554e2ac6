/// Collective operations among the nodes of an MPI job, each node spoken for by its first rank.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "mpi_check.hpp"

namespace wasp {

class MpiNodes {
public:
    /// speakers: communicator of the nodes' first ranks, in the order of the nodes.   ranks:
    /// theirs.
    MpiNodes(Cluster& cluster, MPI_Comm speakers, std::vector<int> ranks);

    void barrier();
    /// values = the sum over the nodes, taken in their order: the same bits on all, in every run.
    void sum(std::span<float> values);
    void sum(std::span<double> values);
    void broadcast(std::span<std::byte> bytes, int root_node);

    /// Collective among the speakers. Of what it returns: start a sum, which goes on beside others;
    /// of what that returns: let it get on, and say whether it is complete. All nodes start the
    /// same sums in the same order.
    std::function<std::function<bool()>(std::span<float>)> make_background_sums() const;

private:
    template <class T>
    void sum_in_order(std::span<T> values);
    std::size_t size() const { return ranks_.size(); }

    Cluster& cluster_;
    MPI_Comm speakers_;
    std::vector<int> ranks_;
    int me_ = 0;
};

}  // namespace wasp
