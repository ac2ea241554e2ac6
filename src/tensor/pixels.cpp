#include "pixels.hpp"

#include <cstdint>

namespace wasp {

namespace {

template <class Pixel>
void normalise(const Pixel* pixels, std::size_t count, float scale, float shift, float* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(pixels[i]) * scale + shift;
}

}  // namespace

void normalise_channel(const ImageBatch& batch, const ImageShape& shape, std::size_t index,
                       std::size_t channel, float* out) {
    const std::size_t area = shape.pixels() / static_cast<std::size_t>(shape.channels);
    const std::byte* image = batch.images[index];
    const float scale = batch.scale[channel], shift = batch.shift[channel];
    if (batch.pixel_type == PixelType::uint8)
        normalise(reinterpret_cast<const std::uint8_t*>(image) + channel * area, area, scale, shift,
                  out);
    else
        normalise(reinterpret_cast<const float*>(image) + channel * area, area, scale, shift, out);
}

}  // namespace wasp
