/// Every call of MPI goes through mpi_check(), and every wait for a request through mpi_wait().
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>

#include "cluster/cluster.hpp"

#if !defined(MPICH_VERSION) && !defined(OPEN_MPI) && !defined(WASP_ANY_MPI)
#error \
    "wasp is built and tested with MPICH and Open MPI: set MPI_FLAGS and MPI_LIBS (make/generic.mk) to \
the headers and library of one, or compile with -DWASP_ANY_MPI to try another MPI"
#endif

namespace wasp {

/// Error: `code` is not MPI_SUCCESS; names the call and gives the library's own words.
void mpi_check(int code, std::string_view call);

/// Wait for a request of a nonblocking call, serving others meanwhile.   whom: for the error.
void mpi_wait(Cluster& cluster, MPI_Request& request, std::string_view whom);

std::string mpi_host();

}  // namespace wasp
