/// What else a residual network does with activations, and the linear layer on top of it.
#pragma once

#include <cstddef>

#include "tensor/activation_layout.hpp"

namespace wasp {

/// means (N,C) = the mean over the pixels of x.
void global_mean(ActivationLayout layout, ActivationShape shape, const std::byte* x, float* means);
/// dx = gradient (N,C) / pixels, for each pixel.
void global_mean_gradient(ActivationLayout layout, ActivationShape shape, const float* gradient,
                          std::byte* dx);

/// The shortcut without parameters between stages: every second pixel of (N,C,H,W) in both
/// directions, and zero in the channels that are new.
/// Source: He et al. 2015, "Deep residual learning", option A.
struct PaddedShortcut {
    int images, channels, new_channels;  ///< new_channels: of the output
    int height, width;                   ///< of the input
};
void padded_shortcut(ActivationLayout layout, const PaddedShortcut& shape, const std::byte* x,
                     std::byte* y);
void padded_shortcut_gradient(ActivationLayout layout, const PaddedShortcut& shape,
                              const std::byte* dy, std::byte* dx);

/// A linear layer, (N,I) → (N,O), weights (O,I), bias (O).
struct Dense {
    int images, inputs, outputs;
};
void dense(const Dense& shape, const float* x, const float* weights, const float* bias, float* y);
/// Overwrites all three gradients.
void dense_gradient(const Dense& shape, const float* x, const float* weights, const float* dy,
                    float* weight_gradient, float* bias_gradient, float* dx);

}  // namespace wasp
