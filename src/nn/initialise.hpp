/// Private to nn: the weights that a run starts with.
#pragma once

#include <span>

#include "layer.hpp"
#include "nn/model.hpp"

namespace wasp::nn {

/// Each parameter has its own random stream, from the seed and its name.
void initialise(const ModelSetup& setup, const ParameterShape& parameter, std::span<float> values);

}  // namespace wasp::nn
