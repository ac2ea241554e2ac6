/// Memory that the ranks of a node share and that lies in MPI windows as well, so that every rank
/// reads it one-sidedly. MPI takes long to make a window (with 8 ranks on 2 cores 0.3 s) and wants
/// few of them: so one is made, locked for all ranks during its whole life, and given out in
/// pieces; a larger one is made only when it is used up.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "mpi_locked_window.hpp"
#include "shared_memory.hpp"

namespace wasp {

class MpiCluster;

/// A part of every rank's memory, in one MPI window. Its end is collective, too.
class MpiArena {
public:
    /// Collective.   bytes: of my part.   Error: as SharedParts.
    MpiArena(MpiCluster& cluster, std::size_t bytes);

    std::size_t size() const { return mine_.size(); }
    std::size_t room() const { return size() - used_; }
    bool unused() const { return pieces_ == 0; }

    /// The next `bytes` of my part, zeroed, which must be there; where they start.
    std::size_t take(std::size_t bytes);
    void give_back();  ///< when all ranks have: the last piece frees all

    std::byte* at(int member, std::size_t start) const {
        return parts_.part(member).data() + start;
    }
    MPI_Win window() const { return window_.handle(); }

private:
    SharedParts parts_;
    std::span<std::byte> mine_;
    LockedWindow window_;
    std::size_t used_ = 0, ever_used_ = 0;
    int pieces_ = 0;
};

/// What one make_window() or make_counters() gets of an arena, on every rank.
class MpiPiece {
public:
    /// starts: of the piece in each rank's part.
    MpiPiece(std::shared_ptr<MpiArena> arena, std::vector<std::uint64_t> starts)
        : arena_(std::move(arena)), starts_(std::move(starts)) {}
    MpiPiece(const MpiPiece&) = delete;
    MpiPiece& operator=(const MpiPiece&) = delete;
    ~MpiPiece() { arena_->give_back(); }

    /// Of a rank of this node; member: its number there. Starts on a cache line.
    std::byte* of(int rank, int member) const { return arena_->at(member, start(rank)); }

    // The same for MPI, of any rank.
    MPI_Win window() const { return arena_->window(); }
    MPI_Aint displacement(int rank) const { return static_cast<MPI_Aint>(start(rank)); }  ///< bytes

private:
    std::size_t start(int rank) const { return starts_.at(static_cast<std::size_t>(rank)); }

    std::shared_ptr<MpiArena> arena_;
    std::vector<std::uint64_t> starts_;
};

class MpiMemory {
public:
    explicit MpiMemory(MpiCluster& cluster) : cluster_(cluster) {}

    /// Collective. bytes: of my part, zeroed.   Error: as SharedParts.
    std::shared_ptr<MpiPiece> take(std::size_t bytes);

private:
    MpiCluster& cluster_;
    std::vector<std::shared_ptr<MpiArena>> arenas_;  // the last one is given out
};

}  // namespace wasp
