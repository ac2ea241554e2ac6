#include "linear.hpp"

namespace wasp::nn {

Linear::Linear(std::string name, Shape in, int outputs)
    : Layer(in, {outputs, 1, 1}), name_(std::move(name)) {}

std::vector<ParameterShape> Linear::parameters() const {
    const auto outputs = static_cast<std::size_t>(output.count());
    const auto inputs = static_cast<std::size_t>(input.count());
    return {{name_ + ".weight", {outputs, inputs}, inputs}, {name_ + ".bias", {outputs}, inputs}};
}

double Linear::multiplications() const {
    return static_cast<double>(output.count()) * input.count();
}

std::size_t Linear::memo_floats(const Kernels& kernels) const {
    return kernels.linear_scratch(input.count(), 1);
}

void Linear::forward(const Work& work) const {
    const int inputs = input.count(), outputs = output.count();
    const MatrixView weights{work.weights, outputs, inputs, inputs, 1};
    const float* bias = work.weights + std::ptrdiff_t{outputs} * inputs;
    work.kernels.multiply(weights, bias, work.x.features(), work.y.features());
}

void Linear::backward(const Work& work) const {
    const int inputs = input.count(), outputs = output.count();
    work.kernels.linear_weight_gradient(
        work.x.features(), work.dy.features(), work.add, work.gradients,
        work.gradients + std::ptrdiff_t{outputs} * inputs, work.memo);
    if (work.dx.data == nullptr) return;
    const MatrixView transposed{work.weights, inputs, outputs, 1, inputs};
    work.kernels.multiply(transposed, nullptr, work.dy.features(), work.dx.features());
}

}  // namespace wasp::nn
