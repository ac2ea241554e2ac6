/// Private to nn: residual networks, a layer at a time over the whole mini-batch.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "base/huge_buffer.hpp"
#include "nn/model.hpp"
#include "resnet_plan.hpp"
#include "tensor/activation_ops.hpp"
#include "tensor/batch_norm.hpp"

namespace wasp::nn {

/// Activations stay in the layout of the convolution library from the pixels to the global mean.
/// What backward() needs of the forward pass (each convolution's and each normalisation's result)
/// is kept for the largest batch; gradients of activations share three buffers.
class ResNet final : public Model {
public:
    ResNet(std::string name, const ModelSetup& setup);

    Score train_step(const ImageBatch& batch) override;
    Score evaluate(const ImageBatch& batch, std::span<float> logits) override;
    void observe(const ImageBatch& batch, double weight) override;

    std::span<float> weights() override { return weights_; }
    std::span<float> gradients() override { return gradients_; }
    std::span<float> state() override { return state_; }
    const std::vector<ParameterView>& parameters() const override { return plan_.parameters; }
    const std::vector<ParameterView>& state_views() const override { return plan_.states; }
    std::vector<std::pair<std::string, double>> facts() const override;

    const std::string& name() const override { return name_; }
    ImageShape image_shape() const override { return image_; }
    int classes() const override { return classes_; }
    double flops_per_image() const override { return plan_.flops(); }

private:
    struct Layer {  // of a ResNetUnit
        const ResNetUnit* unit;
        std::unique_ptr<ConvolutionOperator> convolution;
        BatchNorm norm;
        std::byte *convolved = nullptr, *out = nullptr;
    };
    struct Block {
        const ResNetBlock* plan;
        std::vector<Layer> layers;
        std::unique_ptr<Layer> projection;  // its result is needed for a moment only
        std::byte* x = nullptr;             // of the block
    };
    /// The gradient of a block's output: `main`, plus `other` if there are two terms.
    struct Gradients {
        std::byte *main, *other, *spare;
        bool two_terms = false;
    };

    Layer make_layer(const ResNetUnit& unit, ConvolutionAlgorithm algorithm);
    void make_blocks(ConvolutionAlgorithm algorithm);
    void initialise_weights(const ModelSetup& setup);
    void place_activations();

    /// What normalises: the batch's own statistics, which enter the running ones with this weight;
    /// or, as in inference, the running ones.
    using StatisticsWeight = std::optional<double>;
    void check(const ImageBatch& batch) const;
    void run_forward(const ImageBatch& batch, StatisticsWeight weight);
    void forward(Layer& layer, const std::byte* x, StatisticsWeight weight,
                 const BatchNorm::Forward& norm);
    const std::byte* shortcut(Block& block, StatisticsWeight weight);
    void run_backward();
    void backward(Block& block, Gradients& gradients);
    void backward(Layer& layer, const std::byte* x, const BatchNorm::Backward& norm, std::byte* dx);
    PaddedShortcut padded(const Block& block) const;
    Score loss(std::span<const int> labels, float factor);

    BatchNormPair<const float> scale(const ResNetUnit& unit) const;
    RunningStatistics statistics(const ResNetUnit& unit, double weight);

    std::string name_;
    ImageShape image_;
    int classes_, largest_batch_;
    ResNetPlan plan_;
    const Kernels& kernels_;
    std::unique_ptr<ConvolutionEngine> engine_;
    ActivationLayout layout_;

    HugeBuffer parameter_memory_, activation_memory_;
    std::span<float> weights_, gradients_;
    AlignedFloats state_;
    Layer stem_;
    std::vector<Block> blocks_;
    std::byte* pixels_ = nullptr;
    std::array<std::byte*, 3> gradient_memory_{};
    AlignedFloats features_, feature_gradients_, logits_, logit_gradients_;
    int images_ = 0;  // of the mini-batch at hand
};

/// Bytes that a ResNet takes: weights, gradients, state, activations and the library's workspace.
std::size_t estimate_resnet_bytes(std::string_view name, const ModelSetup& setup);

}  // namespace wasp::nn
