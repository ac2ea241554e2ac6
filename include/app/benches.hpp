/// `wasp bench`: our own speed, one line a measurement.
#pragma once

#include <span>
#include <string>

#include "cluster/cluster.hpp"
#include "nn/model.hpp"

namespace wasp {

/// Training steps of a model on made-up images: forward, backward, SGD with momentum.
struct BenchStepOptions {
    std::string model = "lenet5";
    std::string simd;                          ///< instruction set; empty: the machine's best
    Precision precision = Precision::float32;  ///< of the ResNets
    int batch = 64, threads = 1;
    double seconds = 3;
};

/// Prints e.g. `wasp lenet5 params=61706 batch=64 threads=1 isa=avx512: 51234.5 images/s mean,
/// 52000.0 best, 1.249 ms/step, 48 % of peak`. Best: of up to 20 steps on end; the peak is measured
/// too. Below, what the model counts about itself, e.g. `activation_reorders 0`. Error: unknown
/// model or instruction set.
void bench_step(const BenchStepOptions& options);

/// Prints what was measured to choose among algorithms, a line for each shape and pass.
/// Error: as bench_step().
void bench_kernels(const BenchStepOptions& options);

/// Pulls and pushes of a parameter store by all ranks of the cluster at once, against plain copies
/// and axpys of as many floats by as many ranks at once, in private memory, in the same run.
/// Collective. sizes: of the stores, in floats. Prints which way the floats go, and a table:
/// floats, GB/s of all ranks together (floats moved once), and the ratio. Error: as the parameter
/// store's.
void bench_store(Cluster& cluster, std::span<const std::size_t> sizes, double seconds);

}  // namespace wasp
