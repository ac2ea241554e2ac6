#include "made_up_images.hpp"

#include <cstdint>
#include <span>

#include "base/random.hpp"

namespace wasp {

MadeUpImages::MadeUpImages(ImageShape shape, int classes)
    : pixels_(count * shape.pixels()),
      scale_(static_cast<std::size_t>(shape.channels), 1 / 128.0F),
      shift_(scale_.size(), -1) {
    RandomStream random(1, "bench");
    for (auto& pixel : pixels_) pixel = static_cast<std::byte>(random.below(256));
    for (std::size_t i = 0; i < count; ++i) {
        images_.push_back(&pixels_[i * shape.pixels()]);
        labels_.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(classes))));
    }
}

ImageBatch MadeUpImages::batch(std::size_t step, std::size_t size) const {
    const std::size_t first = step * size % (count - size + 1);
    return {.images = std::span(images_).subspan(first, size),
            .labels = std::span(labels_).subspan(first, size),
            .pixel_type = PixelType::uint8,
            .scale = scale_,
            .shift = shift_};
}

}  // namespace wasp
