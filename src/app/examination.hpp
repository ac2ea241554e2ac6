/// The parts of `wasp doctor`: each looks at something, says what it saw, and what is wrong.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"

namespace wasp {

struct Examination {
    std::vector<std::string> seen;    ///< lines for people
    std::vector<std::string> bad;     ///< training would fail or be wrong: what to change
    std::vector<std::string> advice;  ///< it would be slower than it need be
};

/// Processor, kernels, memory and limits of this rank's node, and whether results can be written
/// into `folder`.
Examination examine_node(const std::filesystem::path& folder);

/// Collective. Who runs where, on which cores, with how many threads (those of `wasp train` where
/// not given). On rank 0; elsewhere empty.
Examination examine_places(Cluster& cluster, std::optional<int> threads);

/// Collective. Whether one-sided calls lose updates or tear blocks, how soon a computing rank
/// answers, how fast the ranks read from and add to one another; each figure takes about `seconds`.
/// On rank 0; elsewhere empty.
Examination examine_traffic(Cluster& cluster, double seconds);

/// Collective. Print all of them, and a verdict; true when nothing is bad.
bool doctor(Cluster& cluster, const std::filesystem::path& folder, std::optional<int> threads,
            double seconds);

}  // namespace wasp
