/// Delay-compensated ASGD: a stale gradient is moved to where the weights are now, by the first
/// term of its Taylor series with a cheap stand-in for the Hessian.
///     g += λ·g⊙g⊙(θ_now − θ_pulled);   θ += u(g)
///     constant: λ = λ0;   adaptive: λ = λ0/√(q + ε) per weight, q = m·q + (1−m)·g⊙g
/// The backup θ_pulled of each worker is what it pulled. Source: Zheng et al. 2017 (arXiv
/// 1609.08326), eq. 10, 12 and 14.
#include <array>
#include <cmath>

#include "shared_weights.hpp"
#include "table.hpp"

namespace wasp {

namespace {

using Kind = Key::Kind;

constexpr std::array modes{Choice{"adaptive", "λ = l0/√(mean square of the gradient), per weight"},
                           Choice{"constant", "λ = l"}};

std::vector<Key> keys() {
    return {{.name = "lambda",
             .kind = Kind::choice,
             .fallback = "adaptive",
             .choices = modes,
             .meaning = "how strongly a gradient is compensated:"},
            {.name = "l0",
             .kind = Kind::number,
             .fallback = "2",
             .high = 1e6,
             .meaning = "λ0",
             .only_with = "adaptive"},
            {.name = "m",
             .kind = Kind::number,
             .fallback = "0.95",
             .high = 0.9999,
             .meaning = "share of the past in the mean square",
             .only_with = "adaptive"},
            {.name = "l",
             .kind = Kind::number,
             .fallback = "0.04",
             .high = 1e6,
             .meaning = "λ",
             .only_with = "constant"},
            servers_key};
}

Correction constant(float lambda) {
    return {.before =
                [lambda](std::span<float> gradients, std::span<const float> now,
                         std::span<const float> pulled, std::span<float> /*memory*/,
                         std::int64_t /*version*/) {
                    for (std::size_t i = 0; i < gradients.size(); ++i) {
                        const float g = gradients[i];
                        gradients[i] += lambda * g * g * (now[i] - pulled[i]);
                    }
                },
            .after = {}};
}

Correction adaptive(float lambda, float past) {
    return {.before =
                [lambda, past](std::span<float> gradients, std::span<const float> now,
                               std::span<const float> pulled, std::span<float> memory,
                               std::int64_t /*version*/) {
                    constexpr float epsilon = 1e-7F;
                    for (std::size_t i = 0; i < gradients.size(); ++i) {
                        const float square = gradients[i] * gradients[i];
                        memory[i] = past * memory[i] + (1 - past) * square;
                        gradients[i] +=
                            lambda / std::sqrt(memory[i] + epsilon) * square * (now[i] - pulled[i]);
                    }
                },
            .after = {}};
}

std::unique_ptr<Protocol> make(const Settings& settings, const ProtocolSetup& setup,
                               const Team& team) {
    const auto value = [&](const char* key) { return static_cast<float>(settings.number(key)); };
    return std::make_unique<SharedWeights>(
        setup, team,
        SharedRule{.server = {.correction = settings.chosen("lambda", "constant")
                                                ? constant(value("l"))
                                                : adaptive(value("l0"), value("m"))}});
}

}  // namespace

constinit const ProtocolRow dcasgd_row{
    .name = "dcasgd",
    .rule = "g += λ·g·g·(weights now − weights pulled), per weight; weights += u(g)",
    .source = "Zheng et al. 2017",
    .server_momentum = true,
    .keys = keys,
    .make = make};

}  // namespace wasp
