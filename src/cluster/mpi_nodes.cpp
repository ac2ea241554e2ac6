#include "mpi_nodes.hpp"

#include <algorithm>
#include <memory>
#include <type_traits>

#include "base/error.hpp"

namespace wasp {

namespace {

constexpr const char* the_others = "the first ranks of the other nodes";

int as_count(std::size_t count) {
    return static_cast<int>(count);
}

template <class T>
MPI_Datatype mpi_type() {
    return std::is_same_v<T, float> ? MPI_FLOAT : MPI_DOUBLE;
}

/// A sum that is under way; the nodes' values are added in the order of the nodes. Each node adds
/// up one slice for all. Where that would move as many bytes, in more rounds, as telling everybody
/// everything, each adds up all of it.
template <class T>
class SumAmongNodes {
public:
    SumAmongNodes(MPI_Comm speakers, std::size_t nodes, std::span<T> values)
        : speakers_(speakers), nodes_(nodes), values_(values) {
        constexpr std::size_t few = 1024;
        if (values.size() <= few || nodes == 2) {
            parts_.resize(nodes * values.size());
            gather(values, parts_);
            return;
        }
        sum_.resize((values.size() + nodes - 1) / nodes);
        padded_.resize(nodes * sum_.size());
        parts_.resize(padded_.size());
        std::ranges::copy(values, padded_.begin());
        const int slice = as_count(sum_.size());
        mpi_check(MPI_Ialltoall(padded_.data(), slice, mpi_type<T>(), parts_.data(), slice,
                                mpi_type<T>(), speakers_, &request_),
                  "MPI_Ialltoall");
    }

    /// Returns whether it is complete.
    bool get_on() {
        int done = 0;
        mpi_check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done == 0) return false;
        if (sum_.empty()) {
            add_up(values_);
            return true;
        }
        if (gathers_) {
            std::copy_n(padded_.begin(), values_.size(), values_.begin());
            return true;
        }
        add_up(sum_);
        gathers_ = true;
        gather(sum_, padded_);
        return false;
    }

private:
    void gather(std::span<const T> mine, std::span<T> all) {
        mpi_check(MPI_Iallgather(mine.data(), as_count(mine.size()), mpi_type<T>(), all.data(),
                                 as_count(mine.size()), mpi_type<T>(), speakers_, &request_),
                  "MPI_Iallgather");
    }

    void add_up(std::span<T> sum) const {
        std::copy_n(parts_.begin(), sum.size(), sum.begin());
        for (std::size_t node = 1; node < nodes_; ++node)
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += parts_[node * sum.size() + i];
    }

    MPI_Comm speakers_;
    std::size_t nodes_;
    std::span<T> values_;
    std::vector<T> padded_, parts_, sum_;  // sum_: my slice; empty where each adds up all of it
    bool gathers_ = false;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

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

template <class T>
void MpiNodes::sum_in_order(std::span<T> values) {
    SumAmongNodes<T> sum(speakers_, size(), values);
    wait_until(
        cluster_, [&] { return sum.get_on(); }, [] { return std::string(the_others); });
}

void MpiNodes::sum(std::span<float> values) {
    sum_in_order(values);
}

void MpiNodes::sum(std::span<double> values) {
    sum_in_order(values);
}

// On a communicator of its own: other collective operations may come in between.
std::function<std::function<bool()>(std::span<float>)> MpiNodes::make_background_sums() const {
    const std::shared_ptr<MPI_Comm> own(new MPI_Comm(MPI_COMM_NULL), [](MPI_Comm* comm) {
        if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
        delete comm;
    });
    mpi_check(MPI_Comm_dup(speakers_, own.get()), "MPI_Comm_dup");
    return [own, nodes = size()](std::span<float> values) -> std::function<bool()> {
        const auto sum = std::make_shared<SumAmongNodes<float>>(*own, nodes, values);
        return [sum] { return sum->get_on(); };
    };
}

void MpiNodes::broadcast(std::span<std::byte> bytes, int root_node) {
    MPI_Request request = MPI_REQUEST_NULL;
    mpi_check(
        MPI_Ibcast(bytes.data(), as_count(bytes.size()), MPI_BYTE, root_node, speakers_, &request),
        "MPI_Ibcast");
    mpi_wait(cluster_, request, the_others);
}

}  // namespace wasp
