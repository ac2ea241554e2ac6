/// How many threads a rank can have without getting in the way of the others.
#pragma once

#include "cluster/cluster.hpp"

namespace wasp {

struct CoreShare {
    int cores = 1;  ///< that this rank may use, hardware threads of one core counted once
    int ranks = 1;  ///< of the node that may use some of the same
    int threads() const { return cores > ranks ? cores / ranks : 1; }
};

/// Of this process; hardware threads of one core counted once.
int usable_core_count();

/// Collective.
CoreShare share_cores(Cluster& cluster);

}  // namespace wasp
