#include "channel_table.hpp"

namespace wasp::SIMD {

const ChannelKernels channel_table = {
    .sums = channel_sums,
    .scaling = channel_scaling,
    .gradient_sums = channel_gradient_sums,
    .gradient = channel_gradient,
    .pack_weights = pack_weights,
    .unpack_weights = unpack_weights,
};

}  // namespace wasp::SIMD
