/// Private to src/tensor/: every kernel that the table of an instruction set points to. They are
/// described in tensor/kernels.hpp.
#pragma once

#include "tensor/kernels.hpp"

namespace wasp::SIMD {

void load_uint8(const std::byte* const* images, const float* scale, const float* shift,
                const Planes& y);
void load_float32(const std::byte* const* images, const float* scale, const float* shift,
                  const Planes& y);
void convolution(const Planes& x, const float* weights, const float* bias, int kernel, int padding,
                 const Planes& y);
void convolution_input_gradient(const Planes& dy, const float* weights, int kernel, int padding,
                                const Planes& dx);
void convolution_weight_gradient(const Planes& x, const Planes& dy, int kernel, int padding,
                                 float* weights, float* bias);
void max_pooling(const Planes& x, int window, const Planes& y, float* winner);
void max_pooling_gradient(const Planes& dy, const float* winner, int window, const Planes& dx);
void mean_pooling(const Planes& x, int window, const Planes& y);
void mean_pooling_gradient(const Planes& dy, int window, const Planes& dx);
void relu(const Planes& y);
void relu_gradient(const Planes& y, const Planes& dy);
void multiply(const MatrixView& matrix, const float* bias, const Features& x, const Features& y);
void linear_weight_gradient(const Features& x, const Features& dy, bool add, float* weights,
                            float* bias, float* scratch);
double multiply_add(std::int64_t rounds);

}  // namespace wasp::SIMD
