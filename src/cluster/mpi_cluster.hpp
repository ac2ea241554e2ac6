/// Ranks are the processes of an MPI job.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/stopwatch.hpp"
#include "cluster/ending.hpp"
#include "mpi_check.hpp"
#include "mpi_memory.hpp"
#include "mpi_news.hpp"
#include "mpi_nodes.hpp"
#include "neighbours.hpp"
#include "node_team.hpp"
#include "shared_memory.hpp"

namespace wasp {

class MpiMailbox;

class MpiCluster final : public Cluster {
public:
    MpiCluster();  ///< after MPI_Init_thread; collective
    MpiCluster(const MpiCluster&) = delete;
    MpiCluster& operator=(const MpiCluster&) = delete;
    ~MpiCluster() override;  ///< before MPI_Finalize; nobody needs this rank any more

    const Place& place() const override { return place_; }
    std::string description() const override;
    void barrier() override;
    void sum(std::span<float> values) override;
    void sum(std::span<double> values) override;
    void broadcast(std::span<std::byte> bytes, int root) override;
    std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes, int root) override;
    std::unique_ptr<Window> make_window(std::size_t length) override;
    std::unique_ptr<Counters> make_counters(std::size_t count) override;
    std::unique_ptr<NodeMemory> make_node_memory(std::size_t bytes) override;
    std::unique_ptr<BackgroundSums> make_background_sums(std::size_t largest) override;
    void poll() override;
    void yield(double waited_seconds) override;
    double seconds() const override { return clock_.seconds(); }
    void check_alive() override;
    Heartbeats& heartbeats() override { return heartbeats_ ? *heartbeats_ : Cluster::heartbeats(); }

    /// This rank failed: the others are to end. True for the first of its node, if no other node
    /// has been heard of.
    bool announce_failure();
    /// Of those that did at the same time.
    bool another_node_speaks() const { return news_->another_node_speaks(); }

    /// Error: as check_alive(), among ranks that have ended and wait for each other.
    void check_alive_at_the_end();

    bool on_this_node(int rank) const {
        return number_on_node_[static_cast<std::size_t>(rank)].has_value();
    }
    MpiMailbox* mailbox() { return mailbox_.get(); }  ///< null: there is one node only
    NodeTeam& team() { return *team_; }               ///< the ranks of this node

    /// Collective: every rank's value, by rank.
    std::vector<std::uint64_t> exchange(std::uint64_t mine);

    /// End the use of something that all ranks made, with a barrier.
    /// When there is no parting together, since an exception is under way, or a rank doesn't come,
    /// others may still use its memory, which is kept as long as this object.
    void part(std::shared_ptr<void> memory);

    /// Ranks of other nodes may still have asked for something that was not parted from together.
    bool left_behind() const { return place_.nodes > 1 && !kept_.empty(); }

private:
    void find_place();
    std::unique_ptr<SharedMemory> make_team_memory() const;
    void meet_neighbours();
    void make_heartbeats();
    void check_others(double now, bool with_ended);
    template <class T>
    void sum_over_all(std::span<T> values);

    MPI_Comm world_ = MPI_COMM_NULL, node_ = MPI_COMM_NULL, speakers_ = MPI_COMM_NULL;
    Place place_;
    std::vector<int> node_ranks_;                     // of this node, by number on it
    std::vector<int> node_of_;                        // by rank
    std::vector<int> speaker_ranks_;                  // by node
    std::vector<std::optional<int>> number_on_node_;  // by rank; empty on other nodes
    Neighbours neighbours_;
    int cores_ = 1;  // that the ranks of the node may use
    Stopwatch clock_;
    std::unique_ptr<SharedMemory> team_memory_;
    std::optional<NodeTeam> team_;
    std::optional<MpiNews> news_;
    std::optional<Heartbeats> heartbeats_;
    std::optional<MpiNodes> nodes_;  // on the first rank of each of several nodes
    MpiMemory memory_;
    std::unique_ptr<MpiMailbox> mailbox_;  // with several nodes
    std::vector<std::shared_ptr<void>> kept_;
};

}  // namespace wasp
