#include "mpi_cluster.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>

#include "background_sums.hpp"
#include "base/error.hpp"
#include "cores.hpp"
#include "mpi_mailbox.hpp"
#include "mpi_window.hpp"
#include "node_window.hpp"

namespace wasp {

namespace {

constexpr int gather_tag = 1;

int count_of(std::size_t count) {
    return static_cast<int>(count);
}

// "MPICH Version:\t4.0.2\nMPICH Release date…" becomes "MPICH Version: 4.0.2", and "Open MPI
// v4.1.4, package: …" "Open MPI v4.1.4".
std::string name_and_version(std::string text) {
    text.resize(std::min(text.find_first_of("\n,"), text.size()));
    std::ranges::replace(text, '\t', ' ');
    return text;
}

struct MpiNodeMemory final : NodeMemory {
    explicit MpiNodeMemory(SharedParts memory) : parts(std::move(memory)) {}
    std::span<std::byte> bytes() override { return parts.part(0); }
    SharedParts parts;
};

}  // namespace

MpiCluster::MpiCluster() : memory_(*this) {
    mpi_check(MPI_Comm_dup(MPI_COMM_WORLD, &world_), "MPI_Comm_dup");
    find_place();
    team_memory_ = make_team_memory();
    team_.emplace(*this, team_memory_->bytes().data(), node_ranks_, place_.rank_on_node);
    meet_neighbours();
    make_heartbeats();
    if (place_.nodes == 1) return;
    if (place_.rank_on_node == 0) nodes_.emplace(*this, speakers_, speaker_ranks_);
    news_->open_window(*this);
    std::vector<int> others;
    for (int rank = 0; rank < place_.ranks; ++rank)
        if (!on_this_node(rank)) others.push_back(rank);
    mailbox_ = std::make_unique<MpiMailbox>(*this, others);
}

MpiCluster::~MpiCluster() {
    mailbox_.reset();
    news_.reset();
    if (speakers_ != MPI_COMM_NULL) MPI_Comm_free(&speakers_);
    MPI_Comm_free(&node_);
    MPI_Comm_free(&world_);
}

void MpiCluster::find_place() {
    mpi_check(MPI_Comm_rank(world_, &place_.rank), "MPI_Comm_rank");
    mpi_check(MPI_Comm_size(world_, &place_.ranks), "MPI_Comm_size");
    mpi_check(MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, place_.rank, MPI_INFO_NULL, &node_),
              "MPI_Comm_split_type");
    mpi_check(MPI_Comm_rank(node_, &place_.rank_on_node), "MPI_Comm_rank");
    mpi_check(MPI_Comm_size(node_, &place_.ranks_on_node), "MPI_Comm_size");
    const int speaks = place_.rank_on_node == 0 ? 0 : MPI_UNDEFINED;
    mpi_check(MPI_Comm_split(world_, speaks, place_.rank, &speakers_), "MPI_Comm_split");

    node_ranks_.resize(static_cast<std::size_t>(place_.ranks_on_node));
    mpi_check(MPI_Allgather(&place_.rank, 1, MPI_INT, node_ranks_.data(), 1, MPI_INT, node_),
              "MPI_Allgather");
    number_on_node_.resize(static_cast<std::size_t>(place_.ranks));
    for (std::size_t i = 0; i < node_ranks_.size(); ++i)
        number_on_node_[static_cast<std::size_t>(node_ranks_[i])] = count_of(i);

    // A node is known by its lowest rank, which speaks for it; nodes are numbered by these.
    std::vector<int> lowest(static_cast<std::size_t>(place_.ranks));
    mpi_check(MPI_Allgather(node_ranks_.data(), 1, MPI_INT, lowest.data(), 1, MPI_INT, world_),
              "MPI_Allgather");
    speaker_ranks_ = lowest;
    std::ranges::sort(speaker_ranks_);
    speaker_ranks_.erase(std::unique(speaker_ranks_.begin(), speaker_ranks_.end()),
                         speaker_ranks_.end());
    for (const int speaker : lowest)
        node_of_.push_back(count_of(static_cast<std::size_t>(
            std::ranges::lower_bound(speaker_ranks_, speaker) - speaker_ranks_.begin())));
    place_.node = node_of_[static_cast<std::size_t>(place_.rank)];
    place_.nodes = count_of(speaker_ranks_.size());

    place_.host = mpi_host();
}

// The team's own memory, for which there is no team yet.
std::unique_ptr<SharedMemory> MpiCluster::make_team_memory() const {
    const bool leads = place_.rank_on_node == 0;
    std::string name = SharedMemory::unique_name();
    mpi_check(MPI_Bcast(name.data(), count_of(name.size()), MPI_CHAR, 0, node_), "MPI_Bcast");
    std::unique_ptr<SharedMemory> memory;
    const std::size_t bytes =
        whole_lines(NodeTeam::bytes(place_.ranks_on_node)) + MpiNews::bytes(place_.ranks);
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

// Which cores they have, and which processes they are.
void MpiCluster::meet_neighbours() {
    CoreSet cores = usable_cores();
    for (auto& word : cores)
        for (const std::uint64_t other : team_->exchange(word)) word |= other;
    cores_ = count(cores);

    const auto pids = team_->exchange(static_cast<std::uint64_t>(getpid()));
    std::vector<Neighbours::Neighbour> all;
    for (std::size_t i = 0; i < pids.size(); ++i)
        all.push_back({node_ranks_[i], static_cast<int>(pids[i])});
    neighbours_ = Neighbours(all);
    team_->barrier();  // none ends before all have seen it
}

// Who they all are, and where they say what they are about: behind the team's memory.
void MpiCluster::make_heartbeats() {
    struct Identity {
        std::array<char, MPI_MAX_PROCESSOR_NAME> host;
        int process;
    };
    Identity mine{.host = {}, .process = static_cast<int>(getpid())};
    place_.host.copy(mine.host.data(), mine.host.size() - 1);
    std::vector<Identity> all(static_cast<std::size_t>(place_.ranks));
    mpi_check(
        MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, world_),
        "MPI_Allgather");
    std::vector<Heartbeats::Who> who;
    std::vector<std::vector<int>> ranks(static_cast<std::size_t>(place_.nodes));
    for (int rank = 0; rank < place_.ranks; ++rank) {
        const auto& identity = all[static_cast<std::size_t>(rank)];
        who.push_back({identity.host.data(), identity.process, on_this_node(rank)});
        const int node = node_of_[static_cast<std::size_t>(rank)];
        ranks[static_cast<std::size_t>(node)].push_back(rank);
    }
    news_.emplace(team_memory_->bytes().subspan(whole_lines(NodeTeam::bytes(place_.ranks_on_node))),
                  std::move(ranks), place_.node, place_.rank_on_node);
    heartbeats_.emplace(news_->table(), std::move(who), place_.rank);
}

void MpiCluster::check_alive() {
    if (team_ && team_->any_failed()) throw OtherRankFailed();
    const double now = seconds();
    neighbours_.check(now, place_.host);
    if (!news_) return;  // while this object is made
    if (news_->heard_of_failure()) throw OtherRankFailed();
    check_others(now, false);
}

void MpiCluster::check_alive_at_the_end() {
    heartbeats_->beat();
    check_others(seconds(), true);
}

void MpiCluster::check_others(double now, bool with_ended) {
    news_->get_on(now, stall_seconds());
    heartbeats_->check(now, stall_seconds(), with_ended);
}

bool MpiCluster::announce_failure() {
    const bool first = team_->announce_failure() && !news_->heard_of_failure();
    if (first) news_->tell_failure();
    return first;
}

std::string MpiCluster::description() const {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    mpi_check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
    int level = 0;
    mpi_check(MPI_Query_thread(&level), "MPI_Query_thread");
    return fmt::format(
        "{}, {}", name_and_version(text.data()),
        level == MPI_THREAD_FUNNELED ? "THREAD_FUNNELED" : "thread level above FUNNELED");
}

void MpiCluster::barrier() {
    if (place_.nodes == 1) return team_->barrier();
    team_->barrier([this] { nodes_->barrier(); });
}

template <class T>
void MpiCluster::sum_over_all(std::span<T> values) {
    if (place_.nodes == 1) return team_->sum(values);
    team_->sum(values, [this](std::span<T> of_node) { nodes_->sum(of_node); });
}

void MpiCluster::sum(std::span<float> values) {
    sum_over_all(values);
}

void MpiCluster::sum(std::span<double> values) {
    sum_over_all(values);
}

void MpiCluster::broadcast(std::span<std::byte> bytes, int root) {
    const auto index = static_cast<std::size_t>(root);
    const int number = number_on_node_.at(index).value_or(-1);
    if (place_.nodes == 1) return team_->broadcast(bytes, number);
    team_->broadcast(bytes, number, [&](std::span<std::byte> of_node) {
        nodes_->broadcast(of_node, node_of_[index]);
    });
}

std::vector<std::vector<std::byte>> MpiCluster::gather(std::span<const std::byte> bytes, int root) {
    constexpr std::size_t most = std::size_t{1} << 26U;  // bytes in a message
    const auto transfer = [&](auto call, auto* data, std::size_t size, int other) {
        for (std::size_t at = 0; at < size; at += most) {
            MPI_Request request = MPI_REQUEST_NULL;
            mpi_check(call(data + at, count_of(std::min(most, size - at)), MPI_BYTE, other,
                           gather_tag, world_, &request),
                      "MPI_Isend or MPI_Irecv");
            mpi_wait(*this, request, fmt::format("rank {} to gather", other));
        }
    };
    const auto sizes = exchange(bytes.size());
    if (!on_this_node(root)) {
        transfer(MPI_Isend, bytes.data(), bytes.size(), root);
        return {};
    }
    auto near = team_->gather(bytes, *number_on_node_[static_cast<std::size_t>(root)]);
    if (place_.rank != root) return {};
    std::vector<std::vector<std::byte>> all(sizes.size());
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (number_on_node_[rank]) {
            all[rank] = std::move(near[static_cast<std::size_t>(*number_on_node_[rank])]);
        } else {
            all[rank].resize(sizes[rank]);
            transfer(MPI_Irecv, all[rank].data(), sizes[rank], count_of(rank));
        }
    }
    return all;
}

std::vector<std::uint64_t> MpiCluster::exchange(std::uint64_t mine) {
    if (place_.nodes == 1) return team_->exchange(mine);
    barrier();  // names who is missing
    std::vector<std::uint64_t> all(static_cast<std::size_t>(place_.ranks));
    MPI_Request request = MPI_REQUEST_NULL;
    mpi_check(MPI_Iallgather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, world_, &request),
              "MPI_Iallgather");
    mpi_wait(*this, request, "all ranks");
    return all;
}

// Each rank's part: its locks, then its floats.
std::unique_ptr<Window> MpiCluster::make_window(std::size_t length) {
    auto lengths = exchange(length);
    const auto lock_bytes = [](std::size_t floats) {
        return BlockMemory::locks_for(floats) * sizeof(BlockLock);
    };
    auto memory = memory_.take(lock_bytes(length) + length * sizeof(float));
    std::vector<BlockMemory> near(lengths.size(), BlockMemory({}, {}));
    for (std::size_t i = 0; i < node_ranks_.size(); ++i) {
        const auto rank = static_cast<std::size_t>(node_ranks_[i]);
        std::byte* start = memory->of(node_ranks_[i], count_of(i));
        near[rank] = BlockMemory(
            {reinterpret_cast<float*>(start + lock_bytes(lengths[rank])), lengths[rank]},
            {reinterpret_cast<BlockLock*>(start), BlockMemory::locks_for(lengths[rank])});
    }
    std::vector<MpiWindow::Part> far;
    for (std::size_t rank = 0; rank < lengths.size(); ++rank)
        far.push_back({lengths[rank], memory->displacement(count_of(rank)) +
                                          static_cast<MPI_Aint>(lock_bytes(lengths[rank]))});
    return std::make_unique<MpiWindow>(*this, std::move(near), std::move(far), std::move(memory));
}

std::unique_ptr<Counters> MpiCluster::make_counters(std::size_t count) {
    auto memory = memory_.take(count * sizeof(Counter));
    std::vector<std::span<Counter>> near(static_cast<std::size_t>(place_.ranks));
    for (std::size_t i = 0; i < node_ranks_.size(); ++i)
        near[static_cast<std::size_t>(node_ranks_[i])] = {
            reinterpret_cast<Counter*>(memory->of(node_ranks_[i], count_of(i))), count};
    return std::make_unique<MpiCounters>(*this, std::move(near), count, std::move(memory));
}

std::unique_ptr<NodeMemory> MpiCluster::make_node_memory(std::size_t bytes) {
    return std::make_unique<MpiNodeMemory>(
        SharedParts(*this, *team_, place_.rank_on_node == 0 ? bytes : 0));
}

std::unique_ptr<BackgroundSums> MpiCluster::make_background_sums(std::size_t largest) {
    TeamSums::StartAmongNodes among_nodes;
    if (nodes_) among_nodes = nodes_->make_background_sums();
    return std::make_unique<TeamSums>(
        *this, make_node_memory(TeamSums::bytes(place_.ranks_on_node, largest)), node_ranks_,
        largest, std::move(among_nodes));
}

// MPI_Iprobe lets MPI's one-sided calls at this rank progress, which MPI_Test, with nothing to wait
// for, does not.
void MpiCluster::poll() {
    int any = 0;
    mpi_check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world_, &any, MPI_STATUS_IGNORE),
              "MPI_Iprobe");
    if (mailbox_) mailbox_->serve();
}

void MpiCluster::yield(double waited_seconds) {
    take_turns(place_.ranks_on_node, cores_, waited_seconds);
}

void MpiCluster::part(std::shared_ptr<void> memory) {
    if (std::uncaught_exceptions() == 0) try {
            barrier();
            return;
        } catch (const Error&) {
            // Whoever is missing failed, or will be missed again: that error is the one to report.
        }
    kept_.push_back(std::move(memory));
}

}  // namespace wasp
