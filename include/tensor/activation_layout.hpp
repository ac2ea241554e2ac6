/// Where the numbers of activations (N,C,H,W) lie, in networks of many channels.
#pragma once

#include <cstddef>

namespace wasp {

/// Of activations. Weights, their gradients and all sums are float32.
enum class Precision { float32, bf16 };

/// block > 1: (N, C/block, H, W, block), oneDNN's nChw8c and nChw16c; C is a multiple of block.
/// block = 1: (C, N, H, W): there a 1×1 convolution of a whole batch is one product of matrices.
struct ActivationLayout {
    int block = 1;
    Precision precision = Precision::float32;

    std::size_t element() const { return precision == Precision::bf16 ? 2 : 4; }  ///< bytes
    std::size_t bytes(int images, int channels, int pixels) const {
        return element() * static_cast<std::size_t>(images) * static_cast<std::size_t>(channels) *
               static_cast<std::size_t>(pixels);
    }
};

/// Dimensions of activations, H and W as one.
struct ActivationShape {
    int images = 1, channels = 1, pixels = 1;
};

}  // namespace wasp
