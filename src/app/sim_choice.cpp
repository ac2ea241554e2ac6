#include "sim_choice.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/spec.hpp"
#include "calibration.hpp"
#include "nn/model.hpp"

namespace wasp {

namespace {

/// From the operations of a step, and the three passes of SGD over the weights.
ComputeTime compute_time(const Machine& machine, const SimWork& work) {
    constexpr std::int64_t few_layers = 20, many_layers = 200;
    constexpr double overhead = 2e-5;  // s: assumed, of what is neither
    const ModelSetup setup{.image = usual_image(work.model)};
    const bool deep = work.model.starts_with("resnet");
    const double share = deep ? machine.deep_share : machine.small_share;
    const auto bytes = 3 * sizeof(float) * count_weights(work.model, setup);
    return {.start = overhead + static_cast<double>(bytes) / machine.add,
            .image = flops_per_image(work.model, setup) / (machine.flops * share),
            .polls = deep ? many_layers : few_layers};
}

/// A straight line through the times of all batch sizes that were measured; of one, a ray.
void fit_compute_time(ComputeTime& time, std::span<const Calibration::Step> steps) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (const auto& step : steps) {
        const auto batch = static_cast<double>(step.batch);
        n += 1;
        x += batch;
        y += step.seconds;
        xx += batch * batch;
        xy += batch * step.seconds;
    }
    const double width = n * xx - x * x;
    time.image = width > 0 ? (n * xy - x * y) / width : y / x;
    time.start = width > 0 ? std::max(0.0, (y - time.image * x) / n) : 0;
}

/// What was measured, in place of what the platform says.
void apply(SimOptions& options, const Calibration& calibration, const SimWork& work,
           const std::string& file) {
    std::vector<Calibration::Step> steps;
    for (const auto& step : calibration.steps)
        if (step.model == work.model) steps.push_back(step);
    REQUIRE(!steps.empty(),
            "{}: has no step of {}; run `wasp bench step --model {} --calibrate {}`", file,
            work.model, work.model, file);
    fit_compute_time(options.compute, steps);
    const auto nearest = std::ranges::min_element(
        steps, {}, [&](const auto& step) { return std::abs(step.batch - work.batch); });
    options.compute.polls = std::max<std::int64_t>(1, nearest->polls);
    options.compute.pauses = nearest->pauses;
    options.compute.pause = nearest->pause;
    options.compute.slowness = nearest->slowness;
    options.machine.jitter = nearest->jitter;

    const auto weights =
        static_cast<double>(count_weights(work.model, {.image = usual_image(work.model)}));
    const auto store = std::ranges::min_element(calibration.stores, {}, [&](const auto& one) {
        return std::abs(std::log(static_cast<double>(one.floats) / weights));
    });
    if (store == calibration.stores.end()) return;
    options.machine.copy = store->pull;
    options.machine.add = store->push;
    options.machine.memory = 0;  // was at its limit, if there is one, when these were measured
    options.machine.counter = store->counter;
}

/// Of weights without gradients nothing is of interest but how long they take to move. Enough
/// floats are left for shards of all owners, and for what goes with a model to be small beside it.
std::size_t weights_per_float(const SimWork& work) {
    constexpr std::size_t enough = 512;  // floats
    const std::size_t weights = count_weights(work.model, {.image = usual_image(work.model)});
    return std::bit_floor(std::clamp<std::size_t>(weights / enough, 1, Window::block));
}

}  // namespace

SimChoice parse_sim(std::string_view text) {
    constexpr std::int64_t most_ranks = 65'536;
    constexpr double most_variation = 10;
    Spec spec(fmt::format("sim:platform={}", text));
    SimChoice choice;
    choice.platform = spec.text("platform", "");
    if (!is_platform_file(choice.platform)) static_cast<void>(machine_preset(choice.platform));
    REQUIRE(spec.has("ranks"), "--cluster sim:{} needs ranks=N", text);
    choice.ranks = static_cast<int>(spec.whole("ranks", 1, 1, most_ranks));
    if (spec.has("ranks-per-node"))
        choice.ranks_per_node = static_cast<int>(spec.whole("ranks-per-node", 1, 1, most_ranks));
    static constexpr std::array<std::string_view, 2> kinds{"real", "none"};
    choice.gradients = spec.word("gradients", "real", kinds) == "real";
    choice.calibration = spec.text("calibrate", "");
    if (spec.has("jitter")) choice.jitter = spec.number("jitter", 0, 0, most_variation);
    if (spec.has("spread")) choice.spread = spec.number("spread", 0, 0, most_variation);
    spec.done();
    return choice;
}

bool is_platform_file(std::string_view platform) {
    return platform.ends_with(".xml");
}

SimOptions sim_options(const SimChoice& choice, Machine given, const SimWork& work) {
    SimOptions options;
    options.ranks = choice.ranks;
    options.compute = compute_time(given, work);
    options.machine = std::move(given);
    if (!choice.calibration.empty())
        apply(options, read_calibration(choice.calibration), work, choice.calibration);
    Machine& machine = options.machine;
    machine.ranks_per_node = choice.ranks_per_node.value_or(machine.ranks_per_node);
    machine.jitter = choice.jitter.value_or(machine.jitter);
    machine.spread = choice.spread.value_or(machine.spread);
    options.seed = work.seed;
    options.threads = work.threads;
    if (!choice.gradients) options.weights_per_float = weights_per_float(work);
    return options;
}

}  // namespace wasp
