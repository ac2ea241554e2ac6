/// --cluster sim:…: the machine that is modelled, and the time that a step takes there.
///     sim:PLATFORM,ranks=N[,ranks-per-node=K][,gradients=real|none][,calibrate=FILE]
///         [,jitter=X][,spread=X]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/sim.hpp"

namespace wasp {

struct SimChoice {
    std::string platform;  ///< a preset, or a file NAME.xml
    int ranks = 1;
    std::optional<int> ranks_per_node;     ///< empty: the platform's
    bool gradients = true;                 ///< false: times and staleness only
    std::string calibration;               ///< file; empty: none
    std::optional<double> jitter, spread;  ///< as in Machine; empty: the platform's
};

/// What a worker does in a step.
struct SimWork {
    std::string model = {};
    std::int64_t batch = 0;
    std::uint64_t seed = 1;
    int threads = 1;  ///< that compute it
};

/// text: behind "sim:".   Error: malformed, or no such platform.
SimChoice parse_sim(std::string_view text);

bool is_platform_file(std::string_view platform);

/// machine: the platform.   Error: the calibration is missing, broken, or has not measured this
/// model.
SimOptions sim_options(const SimChoice& choice, Machine machine, const SimWork& work);

}  // namespace wasp
