/// Private to nn: what a residual network consists of, and where its numbers lie in the flat
/// buffers. Names are those of torchvision: conv1.weight, layer1.0.bn1.running_mean, fc.bias, ….
/// Source: He, Zhang, Ren, Sun 2015, "Deep residual learning for image recognition".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nn/model.hpp"

namespace wasp::nn {

/// A convolution and its batch normalisation.
struct ResNetUnit {
    ConvolutionShape convolution;
    std::size_t weights = 0;     ///< in the flat buffers: (O,I,K,K), γ (O), β (O)
    std::size_t statistics = 0;  ///< in the state: running mean (O), running variance (O)

    std::size_t channels() const { return static_cast<std::size_t>(convolution.outputs); }
    std::size_t gamma() const { return weights + convolution.weights(); }
    std::size_t beta() const { return gamma() + channels(); }
    std::size_t count() const { return convolution.weights() + 2 * channels(); }
};

enum class Shortcut {
    identity,
    padded,      ///< without parameters, He et al.'s option A: the networks of their section 4.2
    projection,  ///< 1×1 convolution and normalisation, option B
};

/// y = relu(units(x) + shortcut(x)), with a ReLU between units.
struct ResNetBlock {
    std::vector<ResNetUnit> units;
    Shortcut shortcut = Shortcut::identity;
    ResNetUnit projection;  ///< if that is the shortcut
};

struct ResNetPlan {
    ResNetUnit stem;
    std::vector<ResNetBlock> blocks;
    int features = 0;              ///< channels after the last block
    std::size_t head_weights = 0;  ///< in the flat buffers: (classes, features), bias (classes)
    std::size_t weights = 0, state = 0;
    std::vector<ParameterView> parameters, states;

    /// Of one image and training step.
    double flops() const;
    /// Of all units, each once.
    std::vector<ConvolutionShape> shapes() const;
};

/// name: resnet20, 32, 44, 56, 110 (three stages of 16, 32, 64 channels) or resnet18, 34, 50, 101,
/// 152 (four stages, from 64 channels on; a stem of 3×3 and no pooling, for small images).
ResNetPlan plan_resnet(std::string_view name, const ModelSetup& setup);

}  // namespace wasp::nn
