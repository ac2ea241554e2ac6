#include "reference.hpp"

#include <algorithm>
#include <cmath>

namespace wasp::reference {

namespace {

std::size_t offset(const Tensor& t, int n, int c, int h, int w) {
    return static_cast<std::size_t>(((n * t.channels + c) * t.height + h) * t.width + w);
}

Tensor like(const Tensor& t) {
    return {t.images, t.channels, t.height, t.width};
}

/// body(n, c, h, w) for every element.
template <class Body>
void for_each(const Tensor& t, Body body) {
    for (int n = 0; n < t.images; ++n)
        for (int c = 0; c < t.channels; ++c)
            for (int h = 0; h < t.height; ++h)
                for (int w = 0; w < t.width; ++w) body(n, c, h, w);
}

/// body(channel, i, j) for every weight of one output.
template <class Body>
void for_each_weight(const Tensor& weights, Body body) {
    for (int c = 0; c < weights.channels; ++c)
        for (int i = 0; i < weights.height; ++i)
            for (int j = 0; j < weights.width; ++j) body(c, i, j);
}

template <class Function>
Tensor map(const Tensor& a, const Tensor& b, Function function) {
    Tensor out = like(a);
    std::ranges::transform(a.values, b.values, out.values.begin(), function);
    return out;
}

std::vector<double> softmax(const Tensor& logits, int image) {
    std::vector<double> p;
    for (int c = 0; c < logits.channels; ++c) p.push_back(logits.at(image, c, 0, 0));
    const double largest = *std::ranges::max_element(p);
    double sum = 0;
    for (double& value : p) sum += value = std::exp(value - largest);
    for (double& value : p) value /= sum;
    return p;
}

}  // namespace

Tensor::Tensor(int n, int c, int h, int w)
    : images(n),
      channels(c),
      height(h),
      width(w),
      values(static_cast<std::size_t>(n) * static_cast<std::size_t>(c) *
             static_cast<std::size_t>(h) * static_cast<std::size_t>(w)) {}

double& Tensor::at(int n, int c, int h, int w) {
    return values[offset(*this, n, c, h, w)];
}

double Tensor::at(int n, int c, int h, int w) const {
    return values[offset(*this, n, c, h, w)];
}

double Tensor::padded(int n, int c, int h, int w) const {
    return h < 0 || h >= height || w < 0 || w >= width ? 0 : at(n, c, h, w);
}

Tensor convolution(const Tensor& x, const Tensor& weights, const std::vector<double>& bias,
                   int padding, int stride) {
    Tensor y(x.images, weights.images, (x.height + 2 * padding - weights.height) / stride + 1,
             (x.width + 2 * padding - weights.width) / stride + 1);
    for_each(y, [&](int n, int o, int h, int w) {
        double sum = bias.empty() ? 0 : bias[static_cast<std::size_t>(o)];
        for_each_weight(weights, [&](int c, int i, int j) {
            sum += weights.at(o, c, i, j) *
                   x.padded(n, c, h * stride + i - padding, w * stride + j - padding);
        });
        y.at(n, o, h, w) = sum;
    });
    return y;
}

LayerGradient convolution_gradient(const Tensor& x, const Tensor& weights, const Tensor& dy,
                                   int padding, int stride) {
    LayerGradient gradient{like(x), like(weights),
                           std::vector<double>(static_cast<std::size_t>(weights.images))};
    for_each(dy, [&](int n, int o, int h, int w) {
        const double d = dy.at(n, o, h, w);
        gradient.bias[static_cast<std::size_t>(o)] += d;
        for_each_weight(weights, [&](int c, int i, int j) {
            const int row = h * stride + i - padding, column = w * stride + j - padding;
            gradient.weights.at(o, c, i, j) += d * x.padded(n, c, row, column);
            if (row >= 0 && row < x.height && column >= 0 && column < x.width)
                gradient.input.at(n, c, row, column) += d * weights.at(o, c, i, j);
        });
    });
    return gradient;
}

Tensor max_pooling(const Tensor& x, int window) {
    Tensor y(x.images, x.channels, x.height / window, x.width / window);
    for_each(y, [&](int n, int c, int h, int w) {
        double best = x.at(n, c, h * window, w * window);
        for (int i = 0; i < window; ++i)
            for (int j = 0; j < window; ++j)
                best = std::max(best, x.at(n, c, h * window + i, w * window + j));
        y.at(n, c, h, w) = best;
    });
    return y;
}

Tensor max_pooling_gradient(const Tensor& x, const Tensor& dy, int window) {
    Tensor dx = like(x);
    for_each(dy, [&](int n, int c, int h, int w) {
        int row = h * window, column = w * window;
        for (int i = h * window; i < (h + 1) * window; ++i)
            for (int j = w * window; j < (w + 1) * window; ++j)
                if (x.at(n, c, i, j) > x.at(n, c, row, column)) row = i, column = j;
        dx.at(n, c, row, column) = dy.at(n, c, h, w);
    });
    return dx;
}

Tensor mean_pooling(const Tensor& x, int window) {
    Tensor y(x.images, x.channels, x.height / window, x.width / window);
    for_each(y, [&](int n, int c, int h, int w) {
        double sum = 0;
        for (int i = 0; i < window; ++i)
            for (int j = 0; j < window; ++j) sum += x.at(n, c, h * window + i, w * window + j);
        y.at(n, c, h, w) = sum / (window * window);
    });
    return y;
}

Tensor mean_pooling_gradient(const Tensor& x, const Tensor& dy, int window) {
    Tensor dx = like(x);
    for_each(dx, [&](int n, int c, int h, int w) {
        if (h / window < dy.height && w / window < dy.width)
            dx.at(n, c, h, w) = dy.at(n, c, h / window, w / window) / (window * window);
    });
    return dx;
}

Tensor relu(const Tensor& x) {
    return map(x, x, [](double value, double) { return std::max(value, 0.0); });
}

Tensor relu_gradient(const Tensor& y, const Tensor& dy) {
    return map(y, dy, [](double value, double d) { return value > 0 ? d : 0.0; });
}

Tensor tanh(const Tensor& x) {
    return map(x, x, [](double value, double) { return std::tanh(value); });
}

Tensor tanh_gradient(const Tensor& y, const Tensor& dy) {
    return map(y, dy, [](double value, double d) { return d * (1 - value * value); });
}

namespace {

/// Mean and 1/√(variance + ε) of every channel.
struct Moments {
    explicit Moments(const Tensor& x)
        : mean(static_cast<std::size_t>(x.channels)),
          inverse(mean.size()),
          count(static_cast<double>(x.images) * x.height * x.width) {
        for_each(x, [&](int n, int c, int h, int w) {
            mean[static_cast<std::size_t>(c)] += x.at(n, c, h, w) / count;
        });
        for_each(x, [&](int n, int c, int h, int w) {
            const auto k = static_cast<std::size_t>(c);
            inverse[k] += std::pow(x.at(n, c, h, w) - mean[k], 2) / count;
        });
        for (double& value : inverse) value = 1 / std::sqrt(value + 1e-5);
    }
    std::vector<double> mean, inverse;
    double count;
};

}  // namespace

Tensor batch_norm(const Tensor& x, const std::vector<double>& gamma,
                  const std::vector<double>& beta) {
    const Moments moments(x);
    Tensor y = like(x);
    for_each(y, [&](int n, int c, int h, int w) {
        const auto k = static_cast<std::size_t>(c);
        y.at(n, c, h, w) =
            (x.at(n, c, h, w) - moments.mean[k]) * moments.inverse[k] * gamma[k] + beta[k];
    });
    return y;
}

BatchNormGradient batch_norm_gradient(const Tensor& x, const std::vector<double>& gamma,
                                      const Tensor& dy) {
    const Moments moments(x);
    const auto normal = [&](int n, int c, int h, int w) {
        const auto k = static_cast<std::size_t>(c);
        return (x.at(n, c, h, w) - moments.mean[k]) * moments.inverse[k];
    };
    BatchNormGradient gradient{like(x), std::vector<double>(gamma.size()),
                               std::vector<double>(gamma.size())};
    for_each(x, [&](int n, int c, int h, int w) {
        const auto k = static_cast<std::size_t>(c);
        gradient.beta[k] += dy.at(n, c, h, w);
        gradient.gamma[k] += dy.at(n, c, h, w) * normal(n, c, h, w);
    });
    for_each(x, [&](int n, int c, int h, int w) {
        const auto k = static_cast<std::size_t>(c);
        const double common =
            (gradient.beta[k] + normal(n, c, h, w) * gradient.gamma[k]) / moments.count;
        gradient.input.at(n, c, h, w) =
            gamma[k] * moments.inverse[k] * (dy.at(n, c, h, w) - common);
    });
    return gradient;
}

Tensor padded_shortcut(const Tensor& x, int new_channels) {
    Tensor y(x.images, new_channels, (x.height + 1) / 2, (x.width + 1) / 2);
    for_each(y, [&](int n, int c, int h, int w) {
        y.at(n, c, h, w) = c < x.channels ? x.at(n, c, 2 * h, 2 * w) : 0;
    });
    return y;
}

Tensor padded_shortcut_gradient(const Tensor& x, const Tensor& dy) {
    Tensor dx = like(x);
    for_each(dy, [&](int n, int c, int h, int w) {
        if (c < x.channels) dx.at(n, c, 2 * h, 2 * w) = dy.at(n, c, h, w);
    });
    return dx;
}

Tensor linear(const Tensor& x, const Tensor& weights, const std::vector<double>& bias) {
    return convolution(x, weights, bias, 0);  // of one pixel
}

LayerGradient linear_gradient(const Tensor& x, const Tensor& weights, const Tensor& dy) {
    return convolution_gradient(x, weights, dy, 0);
}

double cross_entropy(const Tensor& logits, const std::vector<int>& labels) {
    double sum = 0;
    for (int n = 0; n < logits.images; ++n)
        sum -= std::log(
            softmax(logits, n)[static_cast<std::size_t>(labels[static_cast<std::size_t>(n)])]);
    return sum / logits.images;
}

Tensor cross_entropy_gradient(const Tensor& logits, const std::vector<int>& labels) {
    Tensor gradient = like(logits);
    for (int n = 0; n < logits.images; ++n) {
        const auto p = softmax(logits, n);
        for (int c = 0; c < logits.channels; ++c) {
            const bool is_label = labels[static_cast<std::size_t>(n)] == c;
            gradient.at(n, c, 0, 0) =
                (p[static_cast<std::size_t>(c)] - (is_label ? 1 : 0)) / logits.images;
        }
    }
    return gradient;
}

}  // namespace wasp::reference
