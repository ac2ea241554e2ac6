/// An MPI window over memory of every rank, locked for all of them during its whole life.
#pragma once

#include <cstddef>
#include <span>

#include "mpi_check.hpp"

namespace wasp {

class LockedWindow {
public:
    /// Collective. memory: of this rank; outlives the window. Displacements in it are in bytes.
    LockedWindow(Cluster& cluster, std::span<std::byte> memory);
    LockedWindow(const LockedWindow&) = delete;
    LockedWindow& operator=(const LockedWindow&) = delete;
    ~LockedWindow();  ///< collective

    MPI_Win handle() const { return window_; }

private:
    MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace wasp
