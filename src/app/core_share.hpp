/// How many threads a rank can have without getting in the way of the others.
#pragma once

#include <string>
#include <string_view>

#include "cluster/cluster.hpp"

namespace wasp {

/// Cores are those of hwloc, its hardware threads counted once.
struct CoreShare {
    int cores = 1;     ///< that this rank may use
    int ranks = 1;     ///< of the node that may use some of the same
    int together = 1;  ///< cores that the ranks of the node may use, all in all
    int machine = 1;   ///< cores of the node that any process may use
    int threads() const { return cores > ranks ? cores / ranks : 1; }
};

/// Of this process; hardware threads of one core counted once.
int usable_core_count();

/// Collective.
CoreShare share_cores(Cluster& cluster);

/// Whether all ranks of the node have to share one core, though there are more; what to do then.
bool is_single_core(const CoreShare& share, int ranks_on_node);
std::string single_core(const CoreShare& share, int ranks_on_node, std::string_view host);

/// A line where the ranks of the node have more threads than cores. Empty: they have not.
std::string crowding(const CoreShare& share, int ranks_on_node, int threads, std::string_view host);

}  // namespace wasp
