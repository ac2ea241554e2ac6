/// Sockets, NUMA nodes, cores and hardware threads of this machine, as hwloc sees them.
#pragma once

#include <hwloc.h>

#include <memory>

#include "base/error.hpp"

namespace wasp {

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

/// Error: hwloc can't find out.
inline Topology load_topology() {
    hwloc_topology_t raw = nullptr;
    ENSURE(hwloc_topology_init(&raw) == 0, "hwloc: no topology");
    Topology topology(raw, hwloc_topology_destroy);
    ENSURE(hwloc_topology_load(raw) == 0, "hwloc: no topology");
    return topology;
}

}  // namespace wasp
