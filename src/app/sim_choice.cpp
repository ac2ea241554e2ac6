#include "sim_choice.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/error.hpp"
#include "base/spec.hpp"
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
    static_cast<void>(machine_preset(choice.platform));
    REQUIRE(spec.has("ranks"), "--cluster sim:{} needs ranks=N", text);
    choice.ranks = static_cast<int>(spec.whole("ranks", 1, 1, most_ranks));
    if (spec.has("ranks-per-node"))
        choice.ranks_per_node = static_cast<int>(spec.whole("ranks-per-node", 1, 1, most_ranks));
    static constexpr std::array<std::string_view, 2> kinds{"real", "none"};
    choice.gradients = spec.word("gradients", "real", kinds) == "real";
    if (spec.has("jitter")) choice.jitter = spec.number("jitter", 0, 0, most_variation);
    if (spec.has("spread")) choice.spread = spec.number("spread", 0, 0, most_variation);
    spec.done();
    return choice;
}

SimOptions sim_options(const SimChoice& choice, const SimWork& work) {
    SimOptions options;
    options.ranks = choice.ranks;
    options.machine = machine_preset(choice.platform);
    Machine& machine = options.machine;
    machine.ranks_per_node = choice.ranks_per_node.value_or(machine.ranks_per_node);
    machine.jitter = choice.jitter.value_or(machine.jitter);
    machine.spread = choice.spread.value_or(machine.spread);
    options.compute = compute_time(machine, work);
    options.seed = work.seed;
    if (!choice.gradients) options.weights_per_float = weights_per_float(work);
    return options;
}

}  // namespace wasp
