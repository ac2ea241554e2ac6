/// Windows and counters in MPI windows: loads and stores on this node; from others RMA gets, and
/// letters for changes.
#pragma once

#include <memory>
#include <vector>

#include "mpi_check.hpp"
#include "mpi_cluster.hpp"
#include "node_window.hpp"

namespace wasp {

class MpiWindow final : public Window {
public:
    /// A rank's part, for MPI.
    struct Part {
        std::uint64_t length;   // floats
        MPI_Aint displacement;  // of the first, in bytes
    };

    /// Collective. near, far: by rank; those of other nodes are empty in `near`.   memory: what
    /// both are parts of.
    MpiWindow(MpiCluster& cluster, std::vector<BlockMemory> near, std::vector<Part> far,
              std::shared_ptr<MpiPiece> memory);
    MpiWindow(const MpiWindow&) = delete;
    MpiWindow& operator=(const MpiWindow&) = delete;
    ~MpiWindow() override;  ///< collective, see MpiCluster::part()

    void get(int rank, std::size_t offset, std::span<float> out) override;
    void put(int rank, std::size_t offset, std::span<const float> in) override;
    void add(int rank, std::size_t offset, float scale, std::span<const float> in) override;
    void get_all(std::span<const Source> sources) override;
    void add_all(float scale, std::span<const Target> targets) override;
    void start_add_all(float scale, std::span<const Target> targets) override;
    void finish_adds() override;

    /// get() by MPI, from ranks of this node, too: what ranks of other nodes see.
    void get_by_mpi(int rank, std::size_t offset, std::span<float> out);

private:
    void check_range(int rank, std::size_t offset, std::size_t count) const;
    void get_both(const std::vector<Source>& near, const std::vector<Source>& far);

    MpiCluster& cluster_;
    std::vector<Part> far_;
    std::shared_ptr<MpiPiece> memory_;
    NodeWindow near_;
    int number_ = 0;  // in letters
};

class MpiCounters final : public Counters {
public:
    /// Collective. near, memory: as in MpiWindow.   count: of each rank.
    MpiCounters(MpiCluster& cluster, std::vector<std::span<Counter>> near, std::size_t count,
                std::shared_ptr<MpiPiece> memory);
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
    std::shared_ptr<MpiPiece> memory_;
    NodeCounters near_;
    int number_ = 0;  // in letters
};

}  // namespace wasp
