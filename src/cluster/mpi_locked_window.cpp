#include "mpi_locked_window.hpp"

#include "base/error.hpp"

namespace wasp {

LockedWindow::LockedWindow(Cluster& cluster, std::span<std::byte> memory) {
    cluster.barrier();  // who waits inside MPI_Win_create can't be timed out
    mpi_check(MPI_Win_create(memory.data(), static_cast<MPI_Aint>(memory.size()), 1, MPI_INFO_NULL,
                             MPI_COMM_WORLD, &window_),
              "MPI_Win_create");
    mpi_check(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
    int* model = nullptr;
    int found = 0;
    mpi_check(MPI_Win_get_attr(window_, MPI_WIN_MODEL, &model, &found), "MPI_Win_get_attr");
    ENSURE(found != 0 && *model == MPI_WIN_UNIFIED,
           "this MPI keeps two copies of the memory in a window: loads and stores can't be used");
    mpi_check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
}

LockedWindow::~LockedWindow() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
}

}  // namespace wasp
