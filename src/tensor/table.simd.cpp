// What this instruction set offers.
#include "table.hpp"

#include "channel_table.hpp"
#include "lanes.hpp"

#define WASP_QUOTED(name) #name
#define WASP_NAME(name) WASP_QUOTED(name)

namespace wasp::SIMD {

extern const Kernels table;
const Kernels table = {
    .name = WASP_NAME(SIMD),
    .lanes = lanes,
    .load_uint8 = load_uint8,
    .load_float32 = load_float32,
    .convolution = convolution,
    .convolution_input_gradient = convolution_input_gradient,
    .convolution_weight_gradient = convolution_weight_gradient,
    .max_pooling = max_pooling,
    .max_pooling_gradient = max_pooling_gradient,
    .mean_pooling = mean_pooling,
    .mean_pooling_gradient = mean_pooling_gradient,
    .relu = relu,
    .relu_gradient = relu_gradient,
    .multiply = multiply,
    .linear_weight_gradient = linear_weight_gradient,
    .multiply_add = multiply_add,
    .channels = &channel_table,
};

}  // namespace wasp::SIMD
