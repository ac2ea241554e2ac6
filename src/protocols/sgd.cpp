#include "protocols/sgd.hpp"

#include "tensor/vector_ops.hpp"

namespace wasp {

Sgd::Sgd(std::size_t weights, const SgdSetup& setup)
    : setup_(setup), velocity_(weights), step_(setup.nesterov ? weights : 0) {}

void Sgd::set_momentum(float momentum, bool nesterov) {
    setup_.momentum = momentum;
    setup_.nesterov = nesterov;
    step_.resize(nesterov ? velocity_.size() : 0);
}

std::span<const float> Sgd::update(std::span<const float> gradients,
                                   std::span<const float> weights) {
    return update_slice(0, gradients, weights);
}

std::span<const float> Sgd::update_slice(std::size_t offset, std::span<const float> gradients,
                                         std::span<const float> weights) {
    const SgdCoefficients c{setup_.momentum, learning_rate_, setup_.weight_decay};
    const auto velocity = std::span(velocity_).subspan(offset, gradients.size());
    if (!setup_.nesterov) {
        momentum_step(c, gradients, weights, velocity);
        return velocity;
    }
    const auto step = std::span(step_).subspan(offset, gradients.size());
    nesterov_step(c, gradients, weights, velocity, step);
    return step;
}

std::span<const float> Sgd::descent(std::span<const float> gradients,
                                    std::span<const float> weights) {
    step_.resize(velocity_.size());
    momentum_step({0, learning_rate_, setup_.weight_decay}, gradients, weights, step_);
    return step_;
}

}  // namespace wasp
