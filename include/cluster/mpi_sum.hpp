/// The MPI library's own sum, which ours is measured against.
#pragma once

#include <span>

namespace wasp {

/// values = the sum of all ranks' values, by MPI_Allreduce. Collective. Returns false, and does
/// nothing, where ranks are no MPI processes.
bool sum_by_mpi(std::span<float> values);

}  // namespace wasp
