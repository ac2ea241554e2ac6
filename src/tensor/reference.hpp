/// What the fast kernels must compute, as plain loops over (N,C,H,W) tensors in double precision:
/// slow, obvious, and what the tests compare with. Weights are laid out as PyTorch's.
#pragma once

#include <vector>

namespace wasp::reference {

/// A tensor (N,C,H,W). Features (N,F) are a tensor (N,F,1,1); weights (O,I,K,K) are one too.
struct Tensor {
    int images, channels, height, width;
    std::vector<double> values;

    Tensor(int n, int c, int h, int w);
    double& at(int n, int c, int h, int w);
    double at(int n, int c, int h, int w) const;
    double padded(int n, int c, int h, int w) const;  ///< 0 outside of the image
};

struct LayerGradient {
    Tensor input, weights;
    std::vector<double> bias;
};

/// bias: may be empty.
Tensor convolution(const Tensor& x, const Tensor& weights, const std::vector<double>& bias,
                   int padding, int stride = 1);
LayerGradient convolution_gradient(const Tensor& x, const Tensor& weights, const Tensor& dy,
                                   int padding, int stride = 1);

Tensor max_pooling(const Tensor& x, int window);
/// The first largest element of a window gets the gradient, as in PyTorch.
Tensor max_pooling_gradient(const Tensor& x, const Tensor& dy, int window);
Tensor mean_pooling(const Tensor& x, int window);
Tensor mean_pooling_gradient(const Tensor& x, const Tensor& dy, int window);

Tensor relu(const Tensor& x);
Tensor relu_gradient(const Tensor& y, const Tensor& dy);
Tensor tanh(const Tensor& x);
Tensor tanh_gradient(const Tensor& y, const Tensor& dy);

/// (x − mean)/√(variance + 1e-5)·γ + β, mean and variance of each channel over images and pixels.
Tensor batch_norm(const Tensor& x, const std::vector<double>& gamma,
                  const std::vector<double>& beta);
struct BatchNormGradient {
    Tensor input;
    std::vector<double> gamma, beta;
};
BatchNormGradient batch_norm_gradient(const Tensor& x, const std::vector<double>& gamma,
                                      const Tensor& dy);

/// Every second pixel in both directions; zero in the channels that x has not.
Tensor padded_shortcut(const Tensor& x, int new_channels);
Tensor padded_shortcut_gradient(const Tensor& x, const Tensor& dy);

Tensor linear(const Tensor& x, const Tensor& weights, const std::vector<double>& bias);
LayerGradient linear_gradient(const Tensor& x, const Tensor& weights, const Tensor& dy);

/// Mean over the images of −log softmax(logits)[label], in nats, and its gradient.
double cross_entropy(const Tensor& logits, const std::vector<int>& labels);
Tensor cross_entropy_gradient(const Tensor& logits, const std::vector<int>& labels);

}  // namespace wasp::reference
