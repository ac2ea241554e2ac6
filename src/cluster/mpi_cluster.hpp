/// Ranks are the processes of an MPI job.
#pragma once

#include <optional>
#include <vector>

#include "base/stopwatch.hpp"
#include "mpi_check.hpp"
#include "node_team.hpp"
#include "shared_memory.hpp"

namespace wasp {

class MpiCluster final : public Cluster {
public:
    MpiCluster();  ///< after MPI_Init_thread; collective
    MpiCluster(const MpiCluster&) = delete;
    MpiCluster& operator=(const MpiCluster&) = delete;
    ~MpiCluster() override;  ///< before MPI_Finalize

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
    void poll() override;
    void yield(double waited_seconds) override;
    double seconds() const override { return clock_.seconds(); }
    void check_alive() override {}

private:
    Place find_place();
    std::unique_ptr<SharedMemory> make_team_memory();

    MPI_Comm world_ = MPI_COMM_NULL, node_ = MPI_COMM_NULL;
    Place place_;
    std::vector<int> node_ranks_;
    bool crowded_ = false;
    Stopwatch clock_;
    std::unique_ptr<SharedMemory> team_memory_;
    std::optional<NodeTeam> team_;
};

}  // namespace wasp
