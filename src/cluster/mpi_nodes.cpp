#include "mpi_nodes.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace wasp {

namespace {

constexpr const char* the_others = "the first ranks of the other nodes";

int as_count(std::size_t count) {
    return static_cast<int>(count);
}

}  // namespace

MpiNodes::MpiNodes(Cluster& cluster, MPI_Comm speakers, std::vector<int> ranks)
    : cluster_(cluster), speakers_(speakers), ranks_(std::move(ranks)) {
    mpi_check(MPI_Comm_rank(speakers_, &me_), "MPI_Comm_rank");
}

// Dissemination: in round k, tell the node 2^k further, and hear from the one 2^k before, whom an
// error can name.
// Source: Hensgen, Finkel, Manber, "Two algorithms for barrier synchronization", IJPP 1988.
void MpiNodes::barrier() {
    const int nodes = as_count(size());
    for (int distance = 1, round = 0; distance < nodes; distance *= 2, ++round) {
        const int to = (me_ + distance) % nodes;
        const int from = (me_ - distance + nodes) % nodes;
        MPI_Request sent = MPI_REQUEST_NULL;
        MPI_Request heard = MPI_REQUEST_NULL;
        mpi_check(MPI_Irecv(nullptr, 0, MPI_BYTE, from, round, speakers_, &heard), "MPI_Irecv");
        mpi_check(MPI_Isend(nullptr, 0, MPI_BYTE, to, round, speakers_, &sent), "MPI_Isend");
        mpi_wait(cluster_, heard,
                 fmt::format("rank {} and its node to come to a collective operation",
                             ranks_[static_cast<std::size_t>(from)]));
        mpi_wait(cluster_, sent,
                 fmt::format("rank {} to hear of me", ranks_[static_cast<std::size_t>(to)]));
    }
}

// Each node adds up one slice for all. Where that would move as many bytes, in more rounds, as
// telling everybody everything, each adds up all of it.
template <class T>
void MpiNodes::sum_in_order(std::span<T> values, MPI_Datatype type) {
    constexpr std::size_t few = 1024;
    const std::size_t nodes = size();
    const auto add_up = [nodes](const std::vector<T>& parts, std::span<T> sum) {
        std::copy_n(parts.begin(), sum.size(), sum.begin());
        for (std::size_t node = 1; node < nodes; ++node)
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += parts[node * sum.size() + i];
    };
    MPI_Request request = MPI_REQUEST_NULL;
    if (values.size() <= few || nodes == 2) {
        std::vector<T> all(nodes * values.size());
        mpi_check(MPI_Iallgather(values.data(), as_count(values.size()), type, all.data(),
                                 as_count(values.size()), type, speakers_, &request),
                  "MPI_Iallgather");
        mpi_wait(cluster_, request, the_others);
        add_up(all, values);
        return;
    }
    const std::size_t slice = (values.size() + nodes - 1) / nodes;
    std::vector<T> padded(nodes * slice);
    std::vector<T> parts(nodes * slice);
    std::vector<T> sum(slice);
    std::ranges::copy(values, padded.begin());
    mpi_check(MPI_Ialltoall(padded.data(), as_count(slice), type, parts.data(), as_count(slice),
                            type, speakers_, &request),
              "MPI_Ialltoall");
    mpi_wait(cluster_, request, the_others);
    add_up(parts, sum);
    mpi_check(MPI_Iallgather(sum.data(), as_count(slice), type, padded.data(), as_count(slice),
                             type, speakers_, &request),
              "MPI_Iallgather");
    mpi_wait(cluster_, request, the_others);
    std::copy_n(padded.begin(), values.size(), values.begin());
}

void MpiNodes::sum(std::span<float> values) {
    sum_in_order(values, MPI_FLOAT);
}

void MpiNodes::sum(std::span<double> values) {
    sum_in_order(values, MPI_DOUBLE);
}

void MpiNodes::broadcast(std::span<std::byte> bytes, int root_node) {
    MPI_Request request = MPI_REQUEST_NULL;
    mpi_check(
        MPI_Ibcast(bytes.data(), as_count(bytes.size()), MPI_BYTE, root_node, speakers_, &request),
        "MPI_Ibcast");
    mpi_wait(cluster_, request, the_others);
}

}  // namespace wasp
