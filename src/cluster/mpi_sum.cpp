#include "cluster/mpi_sum.hpp"

#include "cluster/ending.hpp"
#include "mpi_check.hpp"

namespace wasp {

bool sum_by_mpi(std::span<float> values) {
    if (!mpi_was_started()) return false;
    mpi_check(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_FLOAT,
                            MPI_SUM, MPI_COMM_WORLD),
              "MPI_Allreduce");
    return true;
}

}  // namespace wasp
