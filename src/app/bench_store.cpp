#include <fmt/core.h>

#include "app/benches.hpp"
#include "base/aligned.hpp"
#include "calibration.hpp"
#include "cluster/parameter_store.hpp"
#include "output.hpp"
#include "rate.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

/// Of an operation on a counter on another rank, as the last rank sees it.
double counter_seconds(Cluster& cluster, ParameterStore& store) {
    constexpr int calls = 1000;
    const double start = cluster.seconds();
    for (int i = 0; i < calls; ++i) store.version();
    double seconds = (cluster.seconds() - start) / calls;
    cluster.barrier();
    cluster.broadcast(std::as_writable_bytes(std::span(&seconds, 1)), cluster.size() - 1);
    return seconds;
}

void measure(Cluster& cluster, std::size_t floats, std::size_t shard_bytes, double seconds,
             const std::string& file) {
    AlignedFloats mine(floats), other(floats, 1.0F);
    const double copies = rate(cluster, floats, seconds, [&] { copy(other, mine); });
    const double additions = rate(cluster, floats, seconds, [&] { axpy(1e-3F, other, mine); });

    ParameterStore store(cluster, other, cluster.size(), shard_bytes);
    const double pulls = rate(cluster, floats, seconds, [&] { store.pull(mine); });
    const double pushes = rate(cluster, floats, seconds, [&] { store.push(1e-3F, other); });
    const double counter = counter_seconds(cluster, store);
    if (cluster.rank() != 0) return;
    if (!file.empty()) {
        const double each = 1e9 / cluster.size();
        calibrate(file, Calibration::Store{.floats = static_cast<std::int64_t>(floats),
                                           .ranks = cluster.size(),
                                           .pull = pulls * each,
                                           .push = pushes * each,
                                           .counter = counter});
    }
    say_as("{:>10} {:>5} {:>9.2f} {:>9.2f} {:>6.2f} {:>9.2f} {:>9.2f} {:>6.2f}\n", floats,
           cluster.size(), copies, pulls, pulls / copies, additions, pushes, pushes / additions);
}

}  // namespace

void bench_store(Cluster& cluster, std::span<const std::size_t> sizes, std::size_t shard_bytes,
                 double seconds, const std::string& calibrate) {
    const int nodes = cluster.place().nodes;
    if (cluster.rank() == 0) {
        say_as("{}: {} ranks on {} node{}, whose memory they load from and store to{}\n",
               cluster.description(), cluster.size(), nodes, nodes == 1 ? "" : "s",
               nodes == 1 ? "" : "; between nodes MPI's one-sided calls");
        say_as("{:>10} {:>5} {:>9} {:>9} {:>6} {:>9} {:>9} {:>6}   GB/s\n", "floats", "ranks",
               "copy", "pull", "ratio", "axpy", "push", "ratio");
    }
    for (const std::size_t floats : sizes)
        measure(cluster, floats, shard_bytes, seconds, calibrate);
}

}  // namespace wasp
