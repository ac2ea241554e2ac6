#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "app/benches.hpp"
#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "calibration.hpp"
#include "limits.hpp"
#include "made_up_images.hpp"
#include "nn/model.hpp"
#include "output.hpp"
#include "protocols/sgd.hpp"
#include "tensor/kernels.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

/// What the times of single steps say of how they are distributed. Those that took twice as long as
/// most were held up by something else; the jitter of the others is taken from where two thirds of
/// them lie, as that of a log-normal distribution.
void describe(std::vector<double> times, Calibration::Step& step) {
    constexpr double held_up = 2, below_one_deviation = 0.1587;
    std::ranges::sort(times);
    const auto at = [&](double share) {
        return times[static_cast<std::size_t>(share * static_cast<double>(times.size()))];
    };
    const double deviation = std::log(at(1 - below_one_deviation) / at(below_one_deviation)) / 2;
    step.jitter = std::sqrt(std::expm1(deviation * deviation));

    const auto first = std::ranges::upper_bound(times, held_up * at(0.5));
    const auto sum = [](auto begin, auto end) { return std::accumulate(begin, end, 0.0); };
    const auto usual = static_cast<double>(first - times.begin());
    const auto paused = static_cast<double>(times.end() - first);
    step.seconds = sum(times.begin(), first) / usual;
    step.pauses = paused / static_cast<double>(times.size());
    if (paused > 0) step.pause = sum(first, times.end()) / paused - step.seconds;
}

/// Of all ranks; by rank on the first, elsewhere empty.
std::vector<std::vector<double>> gather_times(Cluster& cluster, std::span<const double> mine) {
    std::vector<std::vector<double>> all;
    for (const auto& bytes : cluster.gather(std::as_bytes(mine), 0)) {
        auto& times = all.emplace_back(bytes.size() / sizeof(double));
        std::memcpy(times.data(), bytes.data(), bytes.size());
    }
    return all;
}

double mean_of(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// What the steps of all ranks, made at once, say of one.
void describe(const std::vector<std::vector<double>>& ranks, Calibration::Step& step) {
    std::vector<double> means;
    std::vector<double> all;
    for (const auto& times : ranks) {
        means.push_back(mean_of(times));
        // Each as if its rank were like the others: how these differ is said apart.
        for (const double time : times) all.push_back(time / means.back());
    }
    const double mean = mean_of(means);
    for (double& time : all) time *= mean;
    describe(std::move(all), step);
    if (ranks.size() == 1) return;
    for (const double one : means) step.slowness.push_back(one / mean);
    say_as("  {} ranks at once; their steps, as shares of the mean of {:.3f} ms: {:.2f}\n",
           ranks.size(), 1e3 * mean, fmt::join(step.slowness, " "));
}

}  // namespace

void bench_step(Cluster& cluster, const BenchStepOptions& options) {
    const auto batch = static_cast<std::size_t>(options.batch);
    REQUIRE(options.batch > 0 && batch <= MadeUpImages::count, "batch {}: 1 to {} can be measured",
            options.batch, MadeUpImages::count);
    REQUIRE(options.threads > 0, "{} threads", options.threads);
    use_threads(options.threads);
    const auto model = make_model(options.model, {.image = usual_image(options.model),
                                                  .largest_batch = options.batch,
                                                  .simd = options.simd,
                                                  .precision = options.precision});
    const MadeUpImages images(model->image_shape(), model->classes());
    Sgd sgd(model->weights().size(), {.momentum = 0.9F});
    std::size_t step = 0;
    std::int64_t layers = 0;
    std::vector<double> step_times;
    model->set_between_layers([&layers] { ++layers; });
    const auto run_steps = [&](int count) {
        for (int i = 0; i < count; ++i, ++step) {
            const Stopwatch watch;
            model->train_step(images.batch(step, batch));
            axpy(1, sgd.update(model->gradients(), model->weights()), model->weights());
            step_times.push_back(watch.seconds());
        }
    };
    run_steps(2);  // makes buffers
    const Stopwatch warming;
    run_steps(1);
    constexpr double burst = 0.05;  // seconds: longer than the clock's error by far
    constexpr int most = 20;
    const int steps_on_end =
        static_cast<int>(std::clamp(burst / warming.seconds(), 1.0, 1.0 * most));
    run_steps(steps_on_end);  // threads and clock frequency settle
    const std::size_t first = step;
    step_times.clear();
    layers = 0;
    double best = std::numeric_limits<double>::infinity();
    cluster.barrier();
    const Stopwatch total;
    while (total.seconds() < options.seconds) {
        const Stopwatch watch;
        run_steps(steps_on_end);
        best = std::min(best, watch.seconds() / steps_on_end);
    }
    const double mean = total.seconds() / static_cast<double>(step - first);
    const auto all_times = gather_times(cluster, step_times);
    if (cluster.rank() != 0) return;
    const auto limits = measure_limits(kernels(options.simd));
    const auto images_per_step = static_cast<double>(batch);
    const double flops = model->flops_per_image() * images_per_step / mean;
    say_as(
        "wasp {} params={} batch={} threads={} isa={}: {:.1f} images/s mean, {:.1f} best, "
        "{:.3f} ms/step, {:.0f} % of peak\n  {:.0f} GFLOP/s; limits, measured now: {}\n",
        options.model, model->weights().size(), batch, options.threads, limits.instructions,
        images_per_step / mean, images_per_step / best, 1e3 * mean, 100 * flops / limits.flops,
        1e-9 * flops, in_words(limits));
    for (const auto& [fact, value] : model->facts()) say_as("  {} {:.0f}\n", fact, value);
    const auto steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(step - first));
    Calibration::Step result{.model = options.model,
                             .batch = options.batch,
                             .threads = options.threads,
                             .polls = layers / steps};
    describe(all_times, result);
    if (!options.calibrate.empty()) calibrate(options.calibrate, result);
}

}  // namespace wasp
