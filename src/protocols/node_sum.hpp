/// Ranks of a node as one worker (node_sum=on): they keep pace, add up their gradients, and one of
/// them trains with the other nodes by an asynchronous protocol.
///     g = mean of the node's gradients;   one rank of the node: exchange(g);   all take its
///     weights
#pragma once

#include <functional>
#include <memory>

#include "protocols/protocol.hpp"
#include "protocols/sub_cluster.hpp"

namespace wasp {

/// make: of the protocol between nodes, on a cluster that has a rank of each.
/// Error: nodes have different numbers of ranks, or there are servers.
std::unique_ptr<Protocol> sum_within_nodes(
    const ProtocolSetup& setup,
    const std::function<std::unique_ptr<Protocol>(const ProtocolSetup&, const Team&)>& make);

}  // namespace wasp
