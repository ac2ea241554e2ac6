/// Gap-aware ASGD: each weight's gradient is divided by how many usual steps that weight has gone
/// since it was pulled.
///     g /= 1 + |θ_now − θ_pulled|/C;   θ += u(g)
///     C = η_max·√q per weight, q: mean of (step/η)², its latest part 1−r, divided by 1 − r^V
/// Source: Barkai, Hakimi, Schuster 2020 (arXiv 1909.10802). That the mean is one of squares, and
/// corrected for its start, is our reading.
#include <algorithm>
#include <cmath>

#include "shared_weights.hpp"
#include "table.hpp"

namespace wasp {

namespace {

std::vector<Key> keys() {
    return {{.name = "r",
             .kind = Key::Kind::number,
             .fallback = "0.999",
             .high = 0.999999,
             .meaning = "share of the past in the mean size of a step"},
            servers_key};
}

/// η_max is the highest rate that this worker has had.
Correction gap_penalty(const Sgd& sgd, double past) {
    const auto largest = std::make_shared<float>(0.0F);
    const auto p = static_cast<float>(past);
    return {.before =
                [&sgd, past, largest](std::span<float> gradients, std::span<const float> now,
                                      std::span<const float> pulled, std::span<float> memory,
                                      std::int64_t version) {
                    constexpr float epsilon = 1e-8F;
                    *largest = std::max(*largest, sgd.learning_rate());
                    if (version == 0) return;
                    const double began = 1 - std::pow(past, static_cast<double>(version));
                    const auto start = static_cast<float>(began);
                    for (std::size_t i = 0; i < gradients.size(); ++i) {
                        const float usual = *largest * (std::sqrt(memory[i] / start) + epsilon);
                        gradients[i] /= 1 + std::abs(now[i] - pulled[i]) / usual;
                    }
                },
            .after =
                [p](std::span<const float> step, float rate, std::span<float> memory) {
                    if (rate <= 0) return;
                    for (std::size_t i = 0; i < step.size(); ++i) {
                        const float size = step[i] / rate;
                        memory[i] = p * memory[i] + (1 - p) * (size * size);
                    }
                },
            .visit = [largest](State& state) { state.value("largest_rate", *largest); }};
}

std::unique_ptr<Protocol> make(const Settings& settings, const ProtocolSetup& setup,
                               const Team& team) {
    return std::make_unique<SharedWeights>(
        setup, team,
        SharedRule{.server = {.correction = gap_penalty(setup.sgd, settings.number("r"))}});
}

}  // namespace

constinit const ProtocolRow gapaware_row{
    .name = "gapaware",
    .rule = "g /= 1 + |weights now − weights pulled|/(usual step), per weight; weights += u(g)",
    .source = "Barkai, Hakimi, Schuster 2020",
    .server_momentum = true,
    .keys = keys,
    .make = make};

}  // namespace wasp
