#include "divergence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

template <class Float>
std::span<Float> part(std::span<Float> all, const ParameterView& view) {
    return all.subspan(view.offset, view.count);
}

double largest(std::span<const float> values) {
    double most = 0;
    for (const float value : values) most = std::max(most, static_cast<double>(std::abs(value)));
    return most;
}

double square(std::span<const float> values) {
    double sum = 0;
    for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
    return sum;
}

template <class Measure>
int view_with_most(const Model& model, Measure measure) {
    const auto& views = model.parameters();
    return static_cast<int>(std::ranges::max_element(views, {}, measure) - views.begin());
}

}  // namespace

Suspect find_suspect(Model& model, float loss, double max_loss) {
    const std::span<const float> weights = model.weights(), gradients = model.gradients();
    const auto& views = model.parameters();
    const bool loss_is_finite = std::isfinite(loss);
    if (!all_finite(weights)) {
        const auto first = std::ranges::find_if(
            views, [&](const auto& view) { return !all_finite(part(weights, view)); });
        return {Symptom::weights, static_cast<int>(first - views.begin())};
    }
    if (!loss_is_finite)
        return {Symptom::largest_weights, view_with_most(model, [&](const auto& view) {
                    return largest(part(weights, view));
                })};
    if (!all_finite(gradients)) {
        const auto last = std::find_if(views.rbegin(), views.rend(), [&](const auto& view) {
            return !all_finite(part(gradients, view));
        });
        return {Symptom::gradient, static_cast<int>(views.rend() - last) - 1};
    }
    if (static_cast<double>(loss) > max_loss)
        return {Symptom::steepest_gradient, view_with_most(model, [&](const auto& view) {
                    return square(part(gradients, view));
                })};
    return {};
}

std::string describe(const Suspect& suspect, const Model& model) {
    if (suspect.view < 0) return {};
    const auto& name = model.parameters().at(static_cast<std::size_t>(suspect.view)).name;
    switch (suspect.symptom) {
        case Symptom::weights:
            return name + " has weights that are not finite";
        case Symptom::gradient:
            return "the gradient of " + name + " is not finite";
        case Symptom::largest_weights:
            return "the largest weight is in " + name;
        case Symptom::steepest_gradient:
            return "the steepest gradient is that of " + name;
        case Symptom::none:
            break;
    }
    return {};
}

bool is_finite(Model& model) {
    return all_finite(model.weights()) && all_finite(model.state()) &&
           all_finite(model.gradients());
}

}  // namespace wasp
