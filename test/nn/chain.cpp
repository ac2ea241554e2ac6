// Whole networks against the plain loops in double precision: shapes that PyTorch's golden values
// don't cover.
#include <gtest/gtest.h>

#include <cmath>

#include "../../src/tensor/reference.hpp"
#include "batch.hpp"
#include "tensor/kernels.hpp"

namespace wasp {
namespace {

using reference::Tensor;

/// The layers of a model, each with the parameters that it takes in turn.
class Chain {
public:
    explicit Chain(Model& model) : model_(model) {}

    Tensor forward(Tensor x, const std::vector<std::string>& layers) {
        layers_ = layers;
        parameter_ = 0;
        for (const auto& layer : layers_) {
            inputs_.push_back(x);
            if (layer.starts_with("conv")) {
                x = reference::convolution(x, weights(parameter_), bias(parameter_),
                                           padding(layer));
                parameter_ += 2;
            }
            if (layer == "linear") {
                inputs_.back() = flat(x);
                x = reference::linear(inputs_.back(), weights(parameter_), bias(parameter_));
                parameter_ += 2;
            }
            if (layer == "max") x = reference::max_pooling(x, 2);
            if (layer == "mean") x = reference::mean_pooling(x, 2);
            if (layer == "relu") x = reference::relu(x);
            if (layer == "tanh") x = reference::tanh(x);
            outputs_.push_back(x);
        }
        return x;
    }

    /// Gradients of all parameters, flat.   dy: of what forward() returned.
    std::vector<double> backward(Tensor dy) {
        std::vector<double> gradients(model_.weights().size());
        const auto store = [&](const reference::LayerGradient& gradient) {
            parameter_ -= 2;
            std::ranges::copy(gradient.weights.values, gradients.begin() + offset(parameter_));
            std::ranges::copy(gradient.bias, gradients.begin() + offset(parameter_ + 1));
            return gradient.input;
        };
        for (std::size_t i = layers_.size(); i-- > 0;) {
            const auto& layer = layers_[i];
            const Tensor& x = inputs_[i];
            dy = reshaped(dy, outputs_[i]);
            if (layer.starts_with("conv"))
                dy = store(reference::convolution_gradient(x, weights(parameter_ - 2), dy,
                                                           padding(layer)));
            if (layer == "linear")
                dy = store(reference::linear_gradient(x, weights(parameter_ - 2), dy));
            if (layer == "max") dy = reference::max_pooling_gradient(x, dy, 2);
            if (layer == "mean") dy = reference::mean_pooling_gradient(x, dy, 2);
            if (layer == "relu") dy = reference::relu_gradient(outputs_[i], dy);
            if (layer == "tanh") dy = reference::tanh_gradient(outputs_[i], dy);
        }
        return gradients;
    }

private:
    static int padding(const std::string& layer) { return layer == "conv:pad" ? 2 : 0; }

    static Tensor reshaped(Tensor tensor, const Tensor& shape) {
        Tensor out = shape;
        out.values = std::move(tensor.values);
        return out;
    }
    static Tensor flat(const Tensor& x) {
        return reshaped(x, Tensor(x.images, x.channels * x.height * x.width, 1, 1));
    }

    std::ptrdiff_t offset(std::size_t parameter) const {
        return static_cast<std::ptrdiff_t>(model_.parameters()[parameter].offset);
    }
    std::span<const float> values(std::size_t parameter) const {
        const auto& view = model_.parameters()[parameter];
        return model_.weights().subspan(view.offset, view.count);
    }
    Tensor weights(std::size_t parameter) const {
        auto shape = model_.parameters()[parameter].shape;
        shape.resize(4, 1);
        Tensor tensor(static_cast<int>(shape[0]), static_cast<int>(shape[1]),
                      static_cast<int>(shape[2]), static_cast<int>(shape[3]));
        std::ranges::copy(values(parameter), tensor.values.begin());
        return tensor;
    }
    std::vector<double> bias(std::size_t weights) const {
        const auto bias = values(weights + 1);
        return {bias.begin(), bias.end()};
    }

    Model& model_;
    std::vector<std::string> layers_;
    std::size_t parameter_ = 0;
    std::vector<Tensor> inputs_, outputs_;
};

struct Case {
    std::string model;
    ImageShape shape;
    int classes, images;
    std::vector<std::string> layers;
};

const Case cases[] = {
    {"lenet5",
     {3, 19, 30},
     7,
     19,
     {"conv:pad", "relu", "max", "conv", "relu", "max", "linear", "relu", "linear", "relu",
      "linear"}},
    {"lenet5-tanh",
     {2, 13, 12},
     3,
     5,
     {"conv:pad", "tanh", "mean", "conv", "tanh", "mean", "linear", "tanh", "linear", "tanh",
      "linear"}},
    {"lenet5-caffe",
     {2, 17, 16},
     11,
     3,
     {"conv", "max", "conv", "max", "linear", "relu", "linear"}},
    {"mlp", {3, 5, 7}, 4, 37, {"linear", "relu", "linear"}},
};

TEST(Networks, LogitsLossAndGradientsAreThoseOfThePlainLoops) {
    for (const auto& c : cases)
        for (const auto simd : kernel_names()) {
            SCOPED_TRACE(testing::Message() << c.model << " " << simd);
            const test::Images images(c.images, c.shape, c.classes);
            const auto model = make_model(
                c.model,
                {.image = c.shape, .classes = c.classes, .largest_batch = 16, .simd = simd});
            Tensor x(c.images, c.shape.channels, c.shape.height, c.shape.width);
            std::copy_n(images.pixel(0), x.values.size(), x.values.begin());
            Chain chain(*model);
            const Tensor logits = chain.forward(x, c.layers);

            std::vector<float> computed(logits.values.size());
            model->evaluate(images.batch(), computed);
            const auto error = [](const auto& a, const auto& b, std::size_t first,
                                  std::size_t count) {
                double difference = 0, norm = 0;
                for (std::size_t i = first; i < first + count; ++i) {
                    difference += std::pow(a[i] - b[i], 2);
                    norm += std::pow(b[i], 2);
                }
                return std::sqrt(difference / norm);
            };
            EXPECT_LE(error(computed, logits.values, 0, computed.size()), 1e-5);

            const double loss = reference::cross_entropy(logits, images.labels());
            EXPECT_NEAR(model->train_step(images.batch()).loss() / loss, 1, 1e-6);
            const auto gradients =
                chain.backward(reference::cross_entropy_gradient(logits, images.labels()));
            for (const auto& parameter : model->parameters())
                EXPECT_LE(error(model->gradients(), gradients, parameter.offset, parameter.count),
                          1e-5)
                    << parameter.name;
        }
}

}  // namespace
}  // namespace wasp
