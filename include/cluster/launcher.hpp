/// What the launcher (mpiexec, srun) says in the environment about the job that this process is of.
#pragma once

#include <optional>
#include <string>

namespace wasp {

/// Known before MPI starts, and without it; 0 and 1 without a launcher.
int launched_rank();
int launched_ranks();

/// A launcher of another kind than the MPI library's starts N jobs of one rank each.
struct MismatchedLaunch {
    int rank = 0, ranks = 1;
    std::string variable;  ///< that says how many there are
};

/// What the launcher says, when it started several processes and MPI found only one.
std::optional<MismatchedLaunch> mismatched_launch(int ranks_in_mpi);

}  // namespace wasp
