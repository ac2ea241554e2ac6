/// A small nonlinear problem that protocols train in tests. Its gradient takes only + − ×, in one
/// order, so that numpy (test/golden/make_protocol_golden.py) gets the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"
#include "protocols/protocol.hpp"
#include "protocols/turns.hpp"

namespace wasp::test {

struct Toy {
    explicit Toy(std::size_t n);

    /// Fills gradients; returns the loss.
    float gradient(std::int64_t worker, std::int64_t step);

    std::vector<float> weights, gradients;
};

struct Training {
    std::string spec = {};
    SgdSetup sgd = {};
    bool momentum_at_server = false;
    float rate = 0.05F;
    std::int64_t steps = 20;         ///< of this rank
    std::int64_t planned_steps = 0;  ///< 0: steps
    std::size_t n = 37;              ///< weights; no multiple of any number of ranks
    std::uint64_t seed = 1;
    std::function<void(Toy&)> start = {};                     ///< before the first step
    std::function<float(Toy&)> gradient = {};                 ///< instead of the toy's
    std::function<void(const Toy&, std::int64_t)> seen = {};  ///< after each exchange
    bool overlap = false;  ///< the gradient leaves in slices, not quite from its end to its begin
    Compression compression = {};
    TurnTakingCluster* turns = nullptr;  ///< the cluster, when it takes turns
};

struct Trained {
    std::vector<float> weights;
    std::vector<Exchange> records;  ///< one a step; none on a server
    std::int64_t version = 0;
};

inline const std::vector<SgdSetup> optimisers{
    {},
    {.momentum = 0.9F, .weight_decay = 0.01F},
    {.momentum = 0.9F, .weight_decay = 0.01F, .nesterov = true}};

inline constexpr std::size_t several_shards = 10'001;  ///< weights: three blocks of a window

/// Steps of exactly 2^-6 on every weight: whatever is lost or applied twice shows in the sum.
Training with_ones(const std::string& spec, std::int64_t steps);

/// The weights that `steps` such steps in all lead to.
std::vector<float> start_less(double steps);

/// Train on this rank, from make_protocol() to finish(). Collective.
Trained train(Cluster& cluster, const Training& training);

/// The same without a protocol: x += u, as the given worker alone would train.
std::vector<float> train_alone(const Training& training, std::int64_t worker);

/// Of all ranks. Collective.
double sum(Cluster& cluster, double mine);

/// Of all ranks. Collective.
double pushes(Cluster& cluster, const Trained& trained);

/// How often each staleness was pushed with, on all ranks. Collective.
std::map<std::int64_t, std::int64_t> staleness_histogram(Cluster& cluster, const Trained& trained);

/// The values of all ranks, one after the other, on each rank. Collective.
std::vector<float> all_gather(Cluster& cluster, std::span<const float> mine);

/// Weights that are the same but for rounding: to 1e-6 each.
void check_near(std::span<const float> got, std::span<const float> expected);

}  // namespace wasp::test
