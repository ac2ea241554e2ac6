/// What mpiexec or srun told this process, known before MPI starts.
#pragma once

namespace wasp {

int launched_rank();   ///< 0 without a launcher
int launched_ranks();  ///< 1 without a launcher

}  // namespace wasp
