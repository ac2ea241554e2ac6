/// Made-up labelled images for the tests of models, and how their results are compared.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "nn/model.hpp"

namespace wasp::test {

class Images {
public:
    Images(int count, ImageShape shape, int classes, std::uint64_t seed = 1)
        : shape_(shape),
          pixels_(static_cast<std::size_t>(count) * shape.pixels()),
          scale_(static_cast<std::size_t>(shape.channels), 1),
          shift_(scale_.size(), 0) {
        RandomStream random(seed, "images");
        for (float& pixel : pixels_) pixel = static_cast<float>(random.uniform(-1, 1));
        for (int i = 0; i < count; ++i) {
            pointers_.push_back(reinterpret_cast<const std::byte*>(pixel(i)));
            labels_.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(classes))));
        }
    }

    /// Images [first, first + count); all of them without arguments.
    ImageBatch batch(std::size_t first = 0, std::size_t count = std::dynamic_extent) const {
        return {.images = std::span(pointers_).subspan(first, count),
                .labels = std::span(labels_).subspan(first, count),
                .pixel_type = PixelType::float32,
                .scale = scale_,
                .shift = shift_};
    }
    const float* pixel(int image) const {
        return &pixels_[static_cast<std::size_t>(image) * shape_.pixels()];
    }
    const std::vector<int>& labels() const { return labels_; }
    ImageShape shape() const { return shape_; }

private:
    ImageShape shape_;
    std::vector<float> pixels_, scale_, shift_;
    std::vector<const std::byte*> pointers_;
    std::vector<int> labels_;
};

inline std::vector<float> copy_of(std::span<const float> values) {
    return {values.begin(), values.end()};
}

/// |a − b| / |b|
inline double relative_difference(std::span<const float> a, std::span<const float> b) {
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        difference += std::pow(a[i] - b[i], 2);
        norm += std::pow(b[i], 2);
    }
    return std::sqrt(difference / norm);
}

}  // namespace wasp::test
