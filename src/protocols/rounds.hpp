/// Where all ranks meet, those included that have finished; what they then sum goes through
/// Cluster::sum().
#pragma once

#include <array>

#include "cluster/cluster.hpp"

namespace wasp {

/// What the workers that contribute to a round have in common.
struct Round {
    double active = 0;  ///< how many they are
    double rate = 0;    ///< mean η: where shards differ by an image, a schedule gives each its own
    float share() const { return static_cast<float>(1 / active); }
};

/// Collective. active: 1 if this rank contributes to the round, else 0. Of the sums of a round this
/// one has little to carry: the time it takes is waiting.
inline Round meet(Cluster& cluster, double active, float rate) {
    std::array sums{active, active * static_cast<double>(rate)};
    cluster.sum(sums);
    return {sums[0], sums[1] / sums[0]};
}

}  // namespace wasp
