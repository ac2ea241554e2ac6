/// Collective operations among the nodes of an MPI job, each node spoken for by its first rank.
#pragma once

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

private:
    template <class T>
    void sum_in_order(std::span<T> values, MPI_Datatype type);
    std::size_t size() const { return ranks_.size(); }

    Cluster& cluster_;
    MPI_Comm speakers_;
    std::vector<int> ranks_;
    int me_ = 0;
};

}  // namespace wasp
