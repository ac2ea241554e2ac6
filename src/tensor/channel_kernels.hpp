/// Private to tensor: arithmetic along the channels of activations in an ActivationLayout, and of
/// weights in blocks. Compiled once per instruction set, as the kernels of tensor/kernels.hpp.
#pragma once

#include <cstddef>

#include "tensor/activation_layout.hpp"

namespace wasp {

/// Elements of one group of channels: `count` runs of `length`, `step` apart. The group is
/// `vectors` times as many channels as a vector has lanes, and element i of a run is of channel
/// i % (the group's channels); or it is one channel.
struct ChannelRuns {
    Precision precision = Precision::float32;
    bool one_channel = false;
    int vectors = 1;  ///< 1, 2 or 4
    std::ptrdiff_t begin = 0, step = 0, count = 1, length = 0;
};

/// Below, a number of the group's channels (mean, scale …) is a float for each.
struct ChannelSums {
    ChannelRuns runs;
    const std::byte* x;
    std::ptrdiff_t first;           ///< element of the group, the same for all parts of the batch
    float *origin, *sum, *squares;  ///< become x[first], Σ(x − origin), Σ(x − origin)²
};

/// y = [relu](x·scale + shift [+ residual])
struct ChannelScaling {
    ChannelRuns runs;
    const std::byte *x, *residual;
    const float *scale, *shift;
    bool relu;
    std::byte* y;
};

/// With dz the gradient that passes the ReLU: sum = Σ dz, product = Σ dz·(x − mean)
struct ChannelGradientSums {
    ChannelRuns runs;
    const std::byte *x, *y, *more;  ///< y, more: see BatchNorm::Backward
    std::byte* dy;                  ///< where y is given, becomes dz
    const float *mean, *scale, *shift;
    bool relu;
    float *sum, *product;
};

/// dx = scale·dz − offset − (x − mean)·slope
struct ChannelGradient {
    ChannelRuns runs;
    const std::byte *x, *dy;
    const float *mean, *scale, *shift, *offset, *slope;
    bool relu;  ///< the sign of x·scale + shift tells what passes
    std::byte* dx;
};

/// A matrix of blocks of block × block weights, for each position of the K × K kernel. The block at
/// output block o, input block i and position k begins at o·output_step + i·input_step +
/// k·block²; in it, inputs (input_inside) or outputs are neighbours.
struct WeightBlocks {
    int outputs, inputs, area;  ///< O, I, K·K
    std::ptrdiff_t output_step, input_step;
    bool input_inside;
};

struct ChannelKernels {
    void (*sums)(const ChannelSums& work);
    void (*scaling)(const ChannelScaling& work);
    void (*gradient_sums)(const ChannelGradientSums& work);
    void (*gradient)(const ChannelGradient& work);

    /// One column of blocks: all inputs of one block of outputs.   flat: (O,I,K,K)
    void (*pack_weights)(const WeightBlocks& blocks, int output_block, const float* flat,
                         float* packed);
    /// The way back; blocks with inputs outside only.
    void (*unpack_weights)(const WeightBlocks& blocks, int output_block, const float* packed,
                           float* flat);
};

}  // namespace wasp
