/// A training run from its options to its results.
#pragma once

#include <string_view>

#include "app/train_config.hpp"
#include "cluster/cluster.hpp"
#include "guardian.hpp"

namespace wasp {

/// Collective. command_line: for the results. guardian: on the process that writes them, or null.
/// Error: whatever goes wrong; divergence and a stop by a signal or --max-time too, when the
/// results are written.
void train(Cluster& cluster, const TrainConfig& config, std::string_view command_line,
           const Guardian* guardian);

}  // namespace wasp
