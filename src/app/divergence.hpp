/// When training has left the numbers that floats can hold, or the losses that the user allows:
/// where to look.
#pragma once

#include <string>

#include "nn/model.hpp"

namespace wasp {

/// What was found, in the order of looking.
enum class Symptom {
    none,
    weights,           ///< not finite; the first layer, as the images meet them
    gradient,          ///< not finite, of finite weights and loss; the last layer, where it began
    largest_weights,   ///< all are finite, but not the loss
    steepest_gradient  ///< all is finite, but the loss too high
};

struct Suspect {
    Symptom symptom = Symptom::none;
    int view = -1;  ///< of model.parameters()
};

/// The layer to look at, after model.train_step() and before the weights change. symptom is `none`
/// when loss, weights and gradients are finite and the loss is at most `max_loss`.
Suspect find_suspect(Model& model, float loss, double max_loss);

/// "conv2.weight has weights that are not finite"
std::string describe(const Suspect& suspect, const Model& model);

/// Weights, running statistics and gradients.
bool is_finite(Model& model);

}  // namespace wasp
