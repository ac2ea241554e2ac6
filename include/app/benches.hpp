/// `wasp bench`: our own speed, one line a measurement.
#pragma once

#include <span>
#include <string>

#include "cluster/cluster.hpp"
#include "nn/model.hpp"

namespace wasp {

/// Training steps of a model on made-up images: forward, backward, SGD with momentum. Ranks have
/// nothing to do with one another, but make their steps at the same time.
struct BenchStepOptions {
    std::string model = "lenet5";
    std::string simd;                          ///< instruction set; empty: the machine's best
    Precision precision = Precision::float32;  ///< of the ResNets
    int batch = 64, threads = 1;
    double seconds = 3;
    std::string calibrate;  ///< file that the time of a step goes to, for predictions; empty: none
};

/// Prints e.g. `wasp lenet5 params=61706 batch=64 threads=1 isa=avx512: 51234.5 images/s mean,
/// 52000.0 best, 1.249 ms/step, 48 % of peak`. Best: of up to 20 steps on end. Below, the machine's
/// limits, measured in the same run, and what the model counts about itself, e.g.
/// `activation_reorders 0`. These are of rank 0; of several, a line says how their steps differ.
/// Collective. Error: unknown model or instruction set.
void bench_step(Cluster& cluster, const BenchStepOptions& options);

/// Prints what was measured to choose among algorithms, a line for each shape and pass, with its
/// share of the machine's peak (of float32 multiplications and additions one by one: Winograd's and
/// bf16's can be above 100 %).
/// Error: as bench_step().
void bench_kernels(const BenchStepOptions& options);

/// Pulls and pushes of a parameter store by all ranks of the cluster at once, against plain copies
/// and axpys of as many floats by as many ranks at once, in private memory, in the same run.
/// Collective. sizes: of the stores, in floats; shard_bytes: see ParameterStore. Prints which way
/// the floats go, and a table: floats, GB/s of all ranks together (floats moved once), and the
/// ratio. Error: as the parameter store's.
/// calibrate: file that the speeds go to, for predictions; empty: none.
void bench_store(Cluster& cluster, std::span<const std::size_t> sizes, std::size_t shard_bytes,
                 double seconds, const std::string& calibrate);

/// Sums over all ranks (what BSP does with its gradients), ours and MPI_Allreduce, against a plain
/// copy of as many floats by every rank at once: each rank has to read its floats and to write the
/// sums. The three take turns. Collective. Prints a table: floats, GB/s of all ranks together
/// (floats moved once; medians), and the ratios.
void bench_sum(Cluster& cluster, std::span<const std::size_t> sizes, double seconds);

/// Training steps with a protocol between the ranks of the cluster, on made-up images.
struct BenchProtocolOptions {
    std::string model = "lenet5", protocol = "wasp";
    int batch = 64, threads = 1;  ///< of each rank
    double seconds = 10;
};

/// Collective. Steps with the protocol and steps of plain SGD of each rank by itself take turns on
/// the same cores, some milliseconds each, so that a busy machine slows both. Prints e.g. `wasp
/// lenet5 params=61706 batch=64 ranks=2 threads=1: 80123.4 images/s, of 82000.1 alone: 97.7 %
/// (median of 120 pairs)`. Error: unknown model or protocol; a protocol with server ranks.
void bench_protocol(Cluster& cluster, const BenchProtocolOptions& options);

}  // namespace wasp
