/// Where the numbers of activations (N,C,H,W) lie, in networks of many channels.
#pragma once

#include <cstddef>

namespace wasp {

/// Of activations. Weights, their gradients and all sums are float32.
enum class Precision { float32, bf16 };

enum class ActivationOrder {
    planes,  ///< (C, N, H, W): there a 1×1 convolution of a batch is one product of matrices
    blocks,  ///< (N, C/block, H, W, block): oneDNN's nChw8c and nChw16c
    channels_last,  ///< (N, H, W, C): oneDNN's nhwc, the one that its kernels for AMX want
};

/// Dimensions of activations, H and W as one.
struct ActivationShape {
    int images = 1, channels = 1, pixels = 1;
};

/// Elements from one image, block of channels or pixel to the next.
struct ActivationSteps {
    std::size_t image = 0, block = 0, pixel = 0;

    /// Where the pixels of (number of the image, group of `block` channels) lie.
    std::size_t begin(std::size_t number, std::size_t group) const {
        return number * image + group * block;
    }
};

/// Whatever the order, `block` channels of a pixel are neighbours, and C is a multiple of block.
struct ActivationLayout {
    ActivationOrder order = ActivationOrder::planes;
    int block = 1;  ///< 1 in planes, else the lanes of a vector
    Precision precision = Precision::float32;

    bool operator==(const ActivationLayout&) const = default;
    std::size_t element() const { return precision == Precision::bf16 ? 2 : 4; }  ///< bytes
    std::size_t bytes(int images, int channels, int pixels) const {
        return element() * static_cast<std::size_t>(images) * static_cast<std::size_t>(channels) *
               static_cast<std::size_t>(pixels);
    }
    ActivationSteps steps(ActivationShape shape) const {
        const auto width = static_cast<std::size_t>(block);
        const auto channels = static_cast<std::size_t>(shape.channels);
        const auto pixels = static_cast<std::size_t>(shape.pixels);
        switch (order) {
            case ActivationOrder::planes:
                return {pixels, static_cast<std::size_t>(shape.images) * pixels, 1};
            case ActivationOrder::blocks:
                return {channels * pixels, width * pixels, width};
            case ActivationOrder::channels_last:
                break;
        }
        return {channels * pixels, width, channels};
    }
};

}  // namespace wasp
