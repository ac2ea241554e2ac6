/// The rows of all ranks in one place.
#pragma once

#include <vector>

#include "cluster/cluster.hpp"
#include "report/results_file.hpp"

namespace wasp {

/// Collective. On root: every rank's row, by rank; elsewhere empty.
std::vector<RankRow> gather_rows(Cluster& cluster, const RankRow& mine, int root);

}  // namespace wasp
