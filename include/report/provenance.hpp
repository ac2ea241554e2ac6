/// Where, when and with what a run was made: /provenance of its results file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/results_file.hpp"

namespace wasp {

/// The CPUs that this process may run on, as Linux writes lists of them: "0-3,8".
std::string bound_cpus();

/// The socket that all of bound_cpus() are on; -1: they are on several, or it is not known.
int bound_socket();

/// What only the caller knows.
struct RunFacts {
    std::string cluster;  ///< Cluster::description()
    std::string kernels;  ///< those chosen of our own, and of the BLAS library
    std::string dataset;  ///< path
    std::string dataset_sha256;
    std::int64_t seed = 1;
    std::vector<RankRow> ranks;  ///< by rank: host, node, threads, cpus
};

/// Of this process and machine: git commit, build flags, compiler, HDF5 version, CPU model, memory,
/// operating system, Slurm job, and the time now as the start of the run.
Attributes provenance(const RunFacts& facts);

}  // namespace wasp
