/// Private to tensor: the first pass over the pixels of a mini-batch.
#pragma once

#include <cstddef>

#include "bf16.hpp"
#include "tensor/image_batch.hpp"

namespace wasp {

/// out[i·step] = pixel i of `channel` of image `index`, normalised as the batch says.   (H·W)
void normalise_channel(const ImageBatch& batch, const ImageShape& shape, std::size_t index,
                       std::size_t channel, float* out, std::size_t step);
void normalise_channel(const ImageBatch& batch, const ImageShape& shape, std::size_t index,
                       std::size_t channel, Bf16* out, std::size_t step);

}  // namespace wasp
