#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "app/benches.hpp"
#include "base/aligned.hpp"
#include "base/stopwatch.hpp"
#include "cluster/mpi_sum.hpp"
#include "output.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

enum Way : std::size_t { copying, summing, by_mpi, ways };

/// Seconds of each way, from a barrier on, until this rank has its result.
using Round = std::array<double, ways>;

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

/// The ways take turns, so that a busy machine slows all of them.   has_mpi: of the last one.
std::vector<Round> take_turns(Cluster& cluster, std::size_t floats, double seconds, bool& has_mpi) {
    AlignedFloats values(floats), other(floats);
    std::vector<Round> rounds;
    const auto time = [&](Way way, const auto& work) {
        cluster.barrier();
        const Stopwatch watch;
        work();
        rounds.back()[way] = watch.seconds();
    };
    const Stopwatch all;
    double enough = 0;
    while (enough == 0) {
        rounds.emplace_back();
        time(copying, [&] { copy(other, values); });
        time(summing, [&] { cluster.sum(values); });
        time(by_mpi, [&] { has_mpi = sum_by_mpi(values); });
        enough = all.seconds() > seconds ? 1 : 0;
        cluster.sum({&enough, 1});
    }
    if (rounds.size() > 1) rounds.erase(rounds.begin());  // memory is new in the first one
    return rounds;
}

void measure(Cluster& cluster, std::size_t floats, double seconds) {
    bool has_mpi = false;
    const auto rounds = take_turns(cluster, floats, seconds, has_mpi);
    std::array<double, ways> rates{};  // GB/s of all ranks together
    for (std::size_t way = 0; way < ways; ++way) {
        std::vector<double> times;
        for (const Round& round : rounds) times.push_back(round[way]);
        rates[way] = 1e-9 * static_cast<double>(floats * sizeof(float)) / median(std::move(times));
    }
    cluster.sum(rates);
    if (cluster.rank() != 0) return;
    const auto share = [&](Way way) { return rates[way] / rates[copying]; };
    say_as("{:>10} {:>5} {:>9.2f} {:>9.2f} {:>6.2f}", floats, cluster.size(), rates[copying],
           rates[summing], share(summing));
    if (has_mpi)
        say_as(" {:>13.2f} {:>6.2f}\n", rates[by_mpi], share(by_mpi));
    else
        say_as(" {:>13} {:>6}\n", "-", "-");
}

}  // namespace

void bench_sum(Cluster& cluster, std::span<const std::size_t> sizes, double seconds) {
    if (cluster.rank() == 0)
        say_as("{:>10} {:>5} {:>9} {:>9} {:>6} {:>13} {:>6}   GB/s\n", "floats", "ranks", "copy",
               "sum", "ratio", "MPI_Allreduce", "ratio");
    for (const std::size_t floats : sizes) measure(cluster, floats, seconds);
}

}  // namespace wasp
