/// --cluster: what the ranks of a run are.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "cluster/cluster.hpp"
#include "sim_choice.hpp"

namespace wasp {

struct ClusterChoice {
    int threads = 0;                    ///< ranks that are threads of this process
    std::optional<SimChoice> sim = {};  ///< ranks in virtual time; neither: MPI processes
};

/// "mpi", "threads:N" or "sim:PLATFORM,ranks=N".   Error: anything else.
ClusterChoice parse_cluster(std::string_view text);

/// Error: this build has no SimGrid, which `what` needs.
void require_virtual_time(std::string_view what);

/// Run `body` on every rank; returns the exit code of the program.
/// work: of a step, where time is virtual.   Error: it is, and there is none, or this build can't.
int run_on(const ClusterChoice& choice, int* argc, char*** argv,
           const std::function<void(Cluster&)>& body, const SimWork& work = {});

}  // namespace wasp
