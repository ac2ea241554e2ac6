/// How fast the ranks of a cluster move floats, all at once.
#pragma once

#include <cstddef>
#include <functional>

#include "cluster/cluster.hpp"

namespace wasp {

/// GB/s of all ranks together: each moves `floats` again and again, from one barrier on, for
/// `seconds`. Collective.
double rate(Cluster& cluster, std::size_t floats, double seconds,
            const std::function<void()>& move);

}  // namespace wasp
