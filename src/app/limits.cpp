#include "limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/aligned.hpp"
#include "base/stopwatch.hpp"
#include "tensor/parallel.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

double measure_flops(const Kernels& kernels, int threads) {
    double best = 0;
    for (int attempt = 0; attempt < 5; ++attempt) {
        std::vector<double> operations(static_cast<std::size_t>(threads));
        const Stopwatch watch;
        parallel_threads(threads, [&](int thread) {
            operations[static_cast<std::size_t>(thread)] = kernels.multiply_add(1'000'000);
        });
        best = std::max(best, operations[0] * threads / watch.seconds());
    }
    return best;
}

double measure_copy() {
    constexpr std::size_t floats = std::size_t{1} << 26U;
    const AlignedFloats from(floats, 1.0F);
    AlignedFloats to(floats);
    double best = 0;
    for (int attempt = 0; attempt < 4; ++attempt) {
        const Stopwatch watch;
        copy(from, to);
        best = std::max(best, floats * sizeof(float) / watch.seconds());
    }
    return best;
}

}  // namespace

Limits measure_limits(const Kernels& kernels) {
    const int threads = available_threads();
    return {std::string(kernels.name), threads, measure_flops(kernels, threads), measure_copy()};
}

std::string in_words(const Limits& limits) {
    return fmt::format("{:.0f} GFLOP/s ({}, {} thread{}), {:.1f} GB/s copied", 1e-9 * limits.flops,
                       limits.instructions, limits.threads, limits.threads == 1 ? "" : "s",
                       1e-9 * limits.copied);
}

}  // namespace wasp
