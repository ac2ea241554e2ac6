/// --cluster: what the ranks of a run are.
#pragma once

#include <functional>
#include <string_view>

#include "cluster/cluster.hpp"

namespace wasp {

struct ClusterChoice {
    int threads = 0;  ///< ranks that are threads of this process; 0: MPI processes
};

/// "mpi" or "threads:N".   Error: anything else.
ClusterChoice parse_cluster(std::string_view text);

/// Run `body` on every rank; returns the exit code of the program.
int run_on(const ClusterChoice& choice, int* argc, char*** argv,
           const std::function<void(Cluster&)>& body);

}  // namespace wasp
