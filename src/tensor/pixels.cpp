#include "pixels.hpp"

#include <cstdint>

namespace wasp {

namespace {

template <class Pixel, class Element>
void normalise(const Pixel* pixels, std::size_t count, float scale, float shift, Element* out,
               std::size_t step) {
    for (std::size_t i = 0; i < count; ++i)
        assign(static_cast<float>(pixels[i]) * scale + shift, out[i * step]);
}

template <class Element>
void normalise_any(const ImageBatch& batch, const ImageShape& shape, std::size_t index,
                   std::size_t channel, Element* out, std::size_t step) {
    const std::size_t area = shape.pixels() / static_cast<std::size_t>(shape.channels);
    const std::byte* image = batch.images[index];
    const float scale = batch.scale[channel], shift = batch.shift[channel];
    if (batch.pixel_type == PixelType::uint8)
        normalise(reinterpret_cast<const std::uint8_t*>(image) + channel * area, area, scale, shift,
                  out, step);
    else
        normalise(reinterpret_cast<const float*>(image) + channel * area, area, scale, shift, out,
                  step);
}

}  // namespace

void normalise_channel(const ImageBatch& batch, const ImageShape& shape, std::size_t index,
                       std::size_t channel, float* out, std::size_t step) {
    normalise_any(batch, shape, index, channel, out, step);
}

void normalise_channel(const ImageBatch& batch, const ImageShape& shape, std::size_t index,
                       std::size_t channel, Bf16* out, std::size_t step) {
    normalise_any(batch, shape, index, channel, out, step);
}

}  // namespace wasp
