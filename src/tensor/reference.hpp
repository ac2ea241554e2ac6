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

Tensor convolution(const Tensor& x, const Tensor& weights, const std::vector<double>& bias,
                   int padding);
LayerGradient convolution_gradient(const Tensor& x, const Tensor& weights, const Tensor& dy,
                                   int padding);

Tensor max_pooling(const Tensor& x, int window);
/// The first largest element of a window gets the gradient, as in PyTorch.
Tensor max_pooling_gradient(const Tensor& x, const Tensor& dy, int window);
Tensor mean_pooling(const Tensor& x, int window);
Tensor mean_pooling_gradient(const Tensor& x, const Tensor& dy, int window);

Tensor relu(const Tensor& x);
Tensor relu_gradient(const Tensor& y, const Tensor& dy);
Tensor tanh(const Tensor& x);
Tensor tanh_gradient(const Tensor& y, const Tensor& dy);

Tensor linear(const Tensor& x, const Tensor& weights, const std::vector<double>& bias);
LayerGradient linear_gradient(const Tensor& x, const Tensor& weights, const Tensor& dy);

/// Mean over the images of −log softmax(logits)[label], in nats, and its gradient.
double cross_entropy(const Tensor& logits, const std::vector<int>& labels);
Tensor cross_entropy_gradient(const Tensor& logits, const std::vector<int>& labels);

}  // namespace wasp::reference
