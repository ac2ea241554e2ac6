/// Private to tensor: the first pass over the pixels of a mini-batch.
#pragma once

#include <cstddef>

#include "bf16.hpp"
#include "tensor/image_batch.hpp"

namespace wasp {

/// out[i] = pixel i of `channel` of image `index`, normalised as the batch says.   (H·W)
void normalise_channel(const ImageBatch& batch, const ImageShape& shape, std::size_t index,
                       std::size_t channel, float* out);
void normalise_channel(const ImageBatch& batch, const ImageShape& shape, std::size_t index,
                       std::size_t channel, Bf16* out);

}  // namespace wasp
