#include "convolution.hpp"

#include <algorithm>

namespace wasp::nn {

Convolution::Convolution(std::string name, Shape in, int outputs, int kernel, int padding)
    : Layer(in,
            {outputs, in.height + 2 * padding - kernel + 1, in.width + 2 * padding - kernel + 1}),
      name_(std::move(name)),
      kernel_(kernel),
      padding_(padding) {}

std::size_t Convolution::weight_count() const {
    return static_cast<std::size_t>(output.channels * input.channels * kernel_ * kernel_);
}

std::vector<ParameterShape> Convolution::parameters() const {
    const auto outputs = static_cast<std::size_t>(output.channels);
    const auto inputs = static_cast<std::size_t>(input.channels);
    const auto kernel = static_cast<std::size_t>(kernel_);
    const std::size_t fan_in = inputs * kernel * kernel;
    return {{name_ + ".weight", {outputs, inputs, kernel, kernel}, fan_in},
            {name_ + ".bias", {outputs}, fan_in}};
}

double Convolution::multiplications() const {
    return static_cast<double>(weight_count()) * output.height * output.width;
}

void Convolution::forward(const Work& work) const {
    const float* bias = work.weights + weight_count();
    for (int group = 0; group < work.x.groups; ++group)
        work.kernels.convolution(work.x.planes(group), work.weights, bias, kernel_, padding_,
                                 work.y.planes(group));
}

void Convolution::backward(const Work& work) const {
    float* bias = work.gradients + weight_count();
    if (!work.add) std::fill(work.gradients, bias + output.channels, 0.0F);
    for (int group = 0; group < work.x.groups; ++group) {
        work.kernels.convolution_weight_gradient(work.x.planes(group), work.dy.planes(group),
                                                 kernel_, padding_, work.gradients, bias);
        if (work.dx.data != nullptr)
            work.kernels.convolution_input_gradient(work.dy.planes(group), work.weights, kernel_,
                                                    padding_, work.dx.planes(group));
    }
}

}  // namespace wasp::nn
