/// Whether a run fits into the memory of its nodes, before any of it is taken.
#pragma once

#include <cstddef>

#include "app/train_config.hpp"
#include "cluster/cluster.hpp"
#include "protocols/protocol.hpp"

namespace wasp {

/// Bytes of weights, gradients, activations, the optimiser and the protocol, of one rank.
std::size_t estimate_memory(const TrainConfig& config, const ModelSetup& setup,
                            const ProtocolFacts& facts);

/// Collective. One rank says what the run will take, where that is much.
/// Error: the ranks of a node want more than there is (with the figures).
void check_memory(Cluster& cluster, const TrainConfig& config, std::size_t bytes);

}  // namespace wasp
