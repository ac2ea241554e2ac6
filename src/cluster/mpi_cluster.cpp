#include "mpi_cluster.hpp"

#include <array>
#include <cstring>

#include "base/error.hpp"
#include "cores.hpp"
#include "node_window.hpp"

namespace wasp {

namespace {

/// A window whose parts lie in shared memory: each rank's locks, then its floats.
std::unique_ptr<Window> window_in(Cluster& cluster, std::shared_ptr<SharedParts> memory,
                                  const std::vector<std::uint64_t>& lengths) {
    std::vector<BlockMemory> parts;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        std::byte* start = memory->part(static_cast<int>(i)).data();
        const std::span locks(reinterpret_cast<BlockLock*>(start),
                              BlockMemory::locks_for(lengths[i]));
        parts.emplace_back(
            std::span(reinterpret_cast<float*>(start + locks.size_bytes()), lengths[i]), locks);
    }
    return std::make_unique<NodeWindow>(cluster, std::move(parts), std::move(memory));
}

struct MpiNodeMemory final : NodeMemory {
    explicit MpiNodeMemory(SharedParts memory) : parts(std::move(memory)) {}
    std::span<std::byte> bytes() override { return parts.part(0); }
    SharedParts parts;
};

}  // namespace

MpiCluster::MpiCluster() {
    mpi_check(MPI_Comm_dup(MPI_COMM_WORLD, &world_), "MPI_Comm_dup");
    place_ = find_place();
    ENSURE(place_.nodes == 1, "{} nodes: one is supported so far", place_.nodes);
    crowded_ = place_.ranks_on_node > usable_cores();
    team_memory_ = make_team_memory();
    team_.emplace(*this, team_memory_->bytes().data(), node_ranks_, place_.rank_on_node);
}

// The team's own memory, for which there is no team yet.
std::unique_ptr<SharedMemory> MpiCluster::make_team_memory() {
    const bool leads = place_.rank_on_node == 0;
    std::string name = SharedMemory::unique_name();
    mpi_check(MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, node_),
              "MPI_Bcast");
    std::unique_ptr<SharedMemory> memory;
    const std::size_t bytes = NodeTeam::bytes(place_.ranks_on_node);
    const auto map = [&] { memory = std::make_unique<SharedMemory>(name, bytes, leads); };
    if (leads) {
        map();
        memory->reserve(0, bytes);
    }
    mpi_check(MPI_Barrier(node_), "MPI_Barrier");
    if (!leads) map();
    mpi_check(MPI_Barrier(node_), "MPI_Barrier");
    if (leads) memory->unlink();
    return memory;
}

MpiCluster::~MpiCluster() {
    MPI_Comm_free(&node_);
    MPI_Comm_free(&world_);
}

Place MpiCluster::find_place() {
    Place place;
    mpi_check(MPI_Comm_rank(world_, &place.rank), "MPI_Comm_rank");
    mpi_check(MPI_Comm_size(world_, &place.ranks), "MPI_Comm_size");
    mpi_check(MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, place.rank, MPI_INFO_NULL, &node_),
              "MPI_Comm_split_type");
    mpi_check(MPI_Comm_rank(node_, &place.rank_on_node), "MPI_Comm_rank");
    mpi_check(MPI_Comm_size(node_, &place.ranks_on_node), "MPI_Comm_size");

    // A node is known by its lowest rank; its number is how many nodes have a lower one.
    node_ranks_.resize(static_cast<std::size_t>(place.ranks_on_node));
    mpi_check(MPI_Allgather(&place.rank, 1, MPI_INT, node_ranks_.data(), 1, MPI_INT, node_),
              "MPI_Allgather");
    std::vector<int> lowest(static_cast<std::size_t>(place.ranks));
    mpi_check(MPI_Allgather(node_ranks_.data(), 1, MPI_INT, lowest.data(), 1, MPI_INT, world_),
              "MPI_Allgather");
    place.nodes = place.node = 0;
    for (int rank = 0; rank < place.ranks; ++rank) {
        if (lowest[static_cast<std::size_t>(rank)] != rank) continue;
        ++place.nodes;
        if (rank < node_ranks_[0]) ++place.node;
    }

    std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
    int length = 0;
    mpi_check(MPI_Get_processor_name(host.data(), &length), "MPI_Get_processor_name");
    place.host = host.data();
    return place;
}

std::string MpiCluster::description() const {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    mpi_check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
    std::string version(text.data(), static_cast<std::size_t>(length));
    version = version.substr(0, version.find('\n'));
    std::string words;  // "MPICH Version:\t4.0.2" becomes "MPICH 4.0.2"
    for (const char c : version)
        if (c != '\t' && c != ' ') words += c;
    return words;
}

void MpiCluster::barrier() {
    team_->barrier();
}

void MpiCluster::sum(std::span<float> values) {
    team_->sum(values);
}

void MpiCluster::sum(std::span<double> values) {
    team_->sum(values);
}

void MpiCluster::broadcast(std::span<std::byte> bytes, int root) {
    team_->broadcast(bytes, root);
}

std::vector<std::vector<std::byte>> MpiCluster::gather(std::span<const std::byte> bytes, int root) {
    return team_->gather(bytes, root);
}

std::unique_ptr<Window> MpiCluster::make_window(std::size_t length) {
    const auto lengths = team_->exchange(length);
    const std::size_t lock_bytes = BlockMemory::locks_for(length) * sizeof(BlockLock);
    return window_in(
        *this, std::make_shared<SharedParts>(*this, *team_, lock_bytes + length * sizeof(float)),
        lengths);
}

std::unique_ptr<Counters> MpiCluster::make_counters(std::size_t count) {
    auto memory = std::make_shared<SharedParts>(*this, *team_, count * sizeof(Counter));
    std::vector<std::span<Counter>> parts;
    for (int member = 0; member < place_.ranks_on_node; ++member)
        parts.emplace_back(reinterpret_cast<Counter*>(memory->part(member).data()), count);
    return std::make_unique<NodeCounters>(std::move(parts), std::move(memory));
}

std::unique_ptr<NodeMemory> MpiCluster::make_node_memory(std::size_t bytes) {
    return std::make_unique<MpiNodeMemory>(
        SharedParts(*this, *team_, place_.rank_on_node == 0 ? bytes : 0));
}

void MpiCluster::poll() {}

void MpiCluster::yield(double waited_seconds) {
    take_turns(crowded_, waited_seconds);
}

}  // namespace wasp
