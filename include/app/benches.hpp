/// `wasp bench`: our own speed, one line a measurement.
#pragma once

#include <string>

#include "cluster/cluster.hpp"

namespace wasp {

/// Training steps of a model on made-up images: forward, backward, SGD with momentum.
struct BenchStepOptions {
    std::string model = "lenet5";
    std::string simd;  ///< instruction set; empty: the machine's best
    int batch = 64, threads = 1;
    double seconds = 3;
};

/// Prints e.g. `wasp lenet5 params=61706 batch=64 threads=1 isa=avx512: 51234.5 images/s mean,
/// 52000.0 best, 1.249 ms/step, 48 % of peak`. Best: of 20 steps on end; the peak is measured too.
/// Error: unknown model or instruction set.
void bench_step(const BenchStepOptions& options);

/// Pulls and pushes of a parameter store by all ranks of the cluster at once, against plain copies
/// and axpys of as many floats by as many ranks at once, in private memory, in the same run.
/// Collective. Prints a table: floats, GB/s of all ranks together (floats moved once), and the
/// ratio. The counts of floats are those of Caffe's LeNet and of ResNet-101. Error: as the
/// parameter store's.
void bench_store(Cluster& cluster, double seconds);

}  // namespace wasp
