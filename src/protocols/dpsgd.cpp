/// Decentralised parallel SGD on a ring: mix with both neighbours, then step; all keep pace.
///     x = Σ W_ij·x_j + u(g at x),   W: 1/3 myself and each neighbour (1/2 on a ring of two)
/// Source: Lian et al. 2017 (arXiv 1705.09056), algorithm 1.
#include "own_weights.hpp"
#include "table.hpp"

namespace wasp {

namespace {

/// x + share·(mean of n neighbours − x) is the mean of all n + 1.
float neighbourhood_target(std::span<const Sight> seen, float my_loss, std::span<float> target) {
    mean_target(seen, my_loss, target);
    const auto neighbours = static_cast<float>(seen.size());
    return neighbours / (neighbours + 1);
}

std::unique_ptr<Protocol> make(const Settings& /*settings*/, const ProtocolSetup& setup,
                               const Team& team) {
    const auto neighbours = ring_neighbours(setup.cluster.rank(), team.workers);
    return std::make_unique<OwnWeights>(setup, OwnRule{.whom = always(neighbours),
                                                       .most_peers = neighbours.size(),
                                                       .target = neighbourhood_target,
                                                       .strength = {1, 1},
                                                       .order = Order::move_first,
                                                       .wait = true});
}

}  // namespace

constinit const ProtocolRow dpsgd_row{
    .name = "dpsgd",
    .rule = "each rank its own model; every step x = mean of mine and both ring neighbours', + u",
    .source = "Lian et al. 2017",
    .shares_weights = false,
    .keys = [] { return std::vector<Key>{}; },
    .make = make};

}  // namespace wasp
