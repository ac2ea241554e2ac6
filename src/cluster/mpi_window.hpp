/// Windows and counters that span nodes: loads and stores on this node; to the others RMA gets, and
/// requests for changes.
#pragma once

#include <memory>
#include <vector>

#include "mpi_check.hpp"
#include "mpi_cluster.hpp"
#include "node_window.hpp"

namespace wasp {

class MpiWindow final : public Window {
public:
    /// Collective. parts: by rank; those on other nodes are empty.   lengths: by rank.
    /// memory: owns what the parts point to.
    MpiWindow(MpiCluster& cluster, std::vector<BlockMemory> parts,
              std::vector<std::uint64_t> lengths, std::shared_ptr<void> memory);
    MpiWindow(const MpiWindow&) = delete;
    MpiWindow& operator=(const MpiWindow&) = delete;
    ~MpiWindow() override;  ///< collective, see MpiCluster::part()

    void get(int rank, std::size_t offset, std::span<float> out) override;
    void put(int rank, std::size_t offset, std::span<const float> in) override;
    void add(int rank, std::size_t offset, float scale, std::span<const float> in) override;
    void get_all(std::span<const Source> sources) override;
    void add_all(float scale, std::span<const Target> targets) override;

private:
    void check_range(int rank, std::size_t offset, std::size_t count) const;

    MpiCluster& cluster_;
    std::vector<std::uint64_t> lengths_;
    std::shared_ptr<void> memory_;
    NodeWindow near_;
    MPI_Win far_ = MPI_WIN_NULL;
    int number_;  // in requests
};

class MpiCounters final : public Counters {
public:
    /// Collective. parts, memory: as in MpiWindow.   count: of each rank.
    MpiCounters(MpiCluster& cluster, std::vector<std::span<Counter>> parts, std::size_t count,
                std::shared_ptr<void> memory);
    MpiCounters(const MpiCounters&) = delete;
    MpiCounters& operator=(const MpiCounters&) = delete;
    ~MpiCounters() override;  ///< collective, see MpiCluster::part()

    std::int64_t read(int rank, std::size_t index) override;
    void read(int rank, std::size_t first, std::span<std::int64_t> out) override;
    std::int64_t fetch_add(int rank, std::size_t index, std::int64_t delta) override;

private:
    void check_range(int rank, std::size_t first, std::size_t count) const;

    MpiCluster& cluster_;
    std::size_t count_;
    std::shared_ptr<void> memory_;
    NodeCounters near_;
    int number_;  // in requests
};

}  // namespace wasp
