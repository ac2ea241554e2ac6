/// --cluster sim:…: the machine that is modelled, and the time that a step takes there.
///     sim:PLATFORM,ranks=N[,ranks-per-node=K][,gradients=real|none][,jitter=X][,spread=X]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/sim.hpp"

namespace wasp {

struct SimChoice {
    std::string platform;
    int ranks = 1;
    std::optional<int> ranks_per_node;     ///< empty: the platform's
    bool gradients = true;                 ///< false: times and staleness only
    std::optional<double> jitter, spread;  ///< as in Machine; empty: the platform's
};

/// What a worker does in a step.
struct SimWork {
    std::string model = {};
    std::int64_t batch = 0;
    std::uint64_t seed = 1;
};

/// text: behind "sim:".   Error: malformed, or no such platform.
SimChoice parse_sim(std::string_view text);

/// Error: as parse_sim(); the machine is too small.
SimOptions sim_options(const SimChoice& choice, const SimWork& work);

}  // namespace wasp
