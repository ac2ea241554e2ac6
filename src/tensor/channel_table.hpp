/// Private to src/tensor/: what the channel table of an instruction set points to, see
/// channel_kernels.hpp.
#pragma once

#include "channel_kernels.hpp"

namespace wasp::SIMD {

void channel_sums(const ChannelSums& work);
void channel_scaling(const ChannelScaling& work);
void channel_gradient_sums(const ChannelGradientSums& work);
void channel_gradient(const ChannelGradient& work);
void pack_weights(const WeightBlocks& blocks, int output_block, const float* flat, float* packed);
void unpack_weights(const WeightBlocks& blocks, int output_block, const float* packed, float* flat);

extern const ChannelKernels channel_table;

}  // namespace wasp::SIMD
