// From MPI_Init to MPI_Finalize, and how an error ends the job.
#include <cstdio>
#include <exception>

#include "base/error.hpp"
#include "mpi_cluster.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

int run_on_mpi(int* argc, char*** argv, const std::function<void(Cluster&)>& body) {
    int provided = 0;
    mpi_check(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    use_threads(1);
    int code = 0;
    try {
        MpiCluster cluster;
        body(cluster);
    } catch (const Error& error) {
        code = static_cast<int>(error.code());
        fmt::print(stderr, "wasp: error: {}\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    MPI_Finalize();
    return code;
}

}  // namespace wasp
