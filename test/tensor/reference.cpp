// The gradients of the plain loops against finite differences, in double precision.
#include "../../src/tensor/reference.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "lanes.hpp"

namespace wasp {
namespace {

using reference::Tensor;
using test::random_tensor;
using test::random_values;
using test::relative_error;

/// d f / d values, one by one.
std::vector<double> differences(std::vector<double>& values, const std::function<double()>& f) {
    constexpr double step = 1e-5;
    std::vector<double> gradient;
    for (double& value : values) {
        const double kept = value;
        value = kept + step;
        const double above = f();
        value = kept - step;
        gradient.push_back((above - f()) / (2 * step));
        value = kept;
    }
    return gradient;
}

/// A scalar function of y whose gradient is dy.
double dot(const Tensor& y, const Tensor& dy) {
    double sum = 0;
    for (std::size_t i = 0; i < y.values.size(); ++i) sum += y.values[i] * dy.values[i];
    return sum;
}

constexpr double tolerance = 1e-8;

TEST(Reference, ConvolutionGradient) {
    for (const int padding : {0, 2}) {
        Tensor x = random_tensor(2, 3, 5, 6, 1), weights = random_tensor(4, 3, 3, 3, 2);
        auto bias = random_values(4, 3);
        const Tensor dy = random_tensor(2, 4, 3 + 2 * padding, 4 + 2 * padding, 4);
        const auto loss = [&] {
            return dot(reference::convolution(x, weights, bias, padding), dy);
        };
        const auto gradient = reference::convolution_gradient(x, weights, dy, padding);
        EXPECT_LE(relative_error(gradient.input.values, differences(x.values, loss)), tolerance);
        EXPECT_LE(relative_error(gradient.weights.values, differences(weights.values, loss)),
                  tolerance);
        EXPECT_LE(relative_error(gradient.bias, differences(bias, loss)), tolerance);
    }
}

TEST(Reference, StridedConvolutionGradient) {
    for (const int kernel : {1, 3}) {
        Tensor x = random_tensor(2, 3, 5, 6, 1), weights = random_tensor(4, 3, kernel, kernel, 2);
        const Tensor dy = random_tensor(2, 4, 3, 3, 4);
        const auto loss = [&] {
            return dot(reference::convolution(x, weights, {}, kernel / 2, 2), dy);
        };
        const auto gradient = reference::convolution_gradient(x, weights, dy, kernel / 2, 2);
        EXPECT_LE(relative_error(gradient.input.values, differences(x.values, loss)), tolerance);
        EXPECT_LE(relative_error(gradient.weights.values, differences(weights.values, loss)),
                  tolerance);
    }
}

TEST(Reference, BatchNormGradient) {
    Tensor x = random_tensor(3, 4, 2, 5, 1);
    auto gamma = random_values(4, 2), beta = random_values(4, 3);
    const Tensor dy = random_tensor(3, 4, 2, 5, 4);
    const auto loss = [&] { return dot(reference::batch_norm(x, gamma, beta), dy); };
    const auto gradient = reference::batch_norm_gradient(x, gamma, dy);
    EXPECT_LE(relative_error(gradient.input.values, differences(x.values, loss)), tolerance);
    EXPECT_LE(relative_error(gradient.gamma, differences(gamma, loss)), tolerance);
    EXPECT_LE(relative_error(gradient.beta, differences(beta, loss)), tolerance);
}

TEST(Reference, PaddedShortcutGradient) {
    Tensor x = random_tensor(2, 3, 5, 4, 1);
    const Tensor dy = random_tensor(2, 7, 3, 2, 2);
    EXPECT_LE(relative_error(
                  reference::padded_shortcut_gradient(x, dy).values,
                  differences(x.values, [&] { return dot(reference::padded_shortcut(x, 7), dy); })),
              tolerance);
}

TEST(Reference, LinearGradient) {
    Tensor x = random_tensor(3, 7, 1, 1, 1), weights = random_tensor(5, 7, 1, 1, 2);
    auto bias = random_values(5, 3);
    const Tensor dy = random_tensor(3, 5, 1, 1, 4);
    const auto loss = [&] { return dot(reference::linear(x, weights, bias), dy); };
    const auto gradient = reference::linear_gradient(x, weights, dy);
    EXPECT_LE(relative_error(gradient.input.values, differences(x.values, loss)), tolerance);
    EXPECT_LE(relative_error(gradient.weights.values, differences(weights.values, loss)),
              tolerance);
    EXPECT_LE(relative_error(gradient.bias, differences(bias, loss)), tolerance);
}

TEST(Reference, PoolingGradients) {
    Tensor x = random_tensor(2, 3, 7, 5, 1);
    const Tensor dy = random_tensor(2, 3, 3, 2, 2);
    EXPECT_LE(relative_error(
                  reference::max_pooling_gradient(x, dy, 2).values,
                  differences(x.values, [&] { return dot(reference::max_pooling(x, 2), dy); })),
              tolerance);
    EXPECT_LE(relative_error(
                  reference::mean_pooling_gradient(x, dy, 2).values,
                  differences(x.values, [&] { return dot(reference::mean_pooling(x, 2), dy); })),
              tolerance);
}

TEST(Reference, ActivationGradients) {
    Tensor x = random_tensor(2, 3, 4, 5, 1);
    const Tensor dy = random_tensor(2, 3, 4, 5, 2);
    EXPECT_LE(relative_error(reference::relu_gradient(reference::relu(x), dy).values,
                             differences(x.values, [&] { return dot(reference::relu(x), dy); })),
              tolerance);
    EXPECT_LE(relative_error(reference::tanh_gradient(reference::tanh(x), dy).values,
                             differences(x.values, [&] { return dot(reference::tanh(x), dy); })),
              tolerance);
}

TEST(Reference, CrossEntropyGradient) {
    Tensor logits = random_tensor(4, 6, 1, 1, 1);
    const std::vector<int> labels{5, 0, 3, 3};
    EXPECT_LE(relative_error(reference::cross_entropy_gradient(logits, labels).values,
                             differences(logits.values,
                                         [&] { return reference::cross_entropy(logits, labels); })),
              tolerance);
}

}  // namespace
}  // namespace wasp
