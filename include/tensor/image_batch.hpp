/// A mini-batch as the data room hands it to a model: pointers to pixels where they lie, and
/// labels.
#pragma once

#include <cstddef>
#include <span>

namespace wasp {

/// Dimensions of one image (C,H,W).
struct ImageShape {
    int channels = 1, height = 1, width = 1;
    std::size_t pixels() const {
        return static_cast<std::size_t>(channels) * static_cast<std::size_t>(height) *
               static_cast<std::size_t>(width);
    }
    bool operator==(const ImageShape&) const = default;
};

enum class PixelType { uint8, float32 };

/// images[i] points to the (C,H,W) pixels of image i, of type `pixel_type`. The model computes with
/// (pixel · scale[c] + shift[c]); for uint8 and mean m, deviation s in [0,1]: scale = 1/(255 s),
/// shift = −m/s.
struct ImageBatch {
    std::span<const std::byte* const> images;
    std::span<const int> labels;  ///< as long as images; each in [0, classes)
    PixelType pixel_type = PixelType::uint8;
    std::span<const float> scale, shift;  ///< (C)
    std::size_t size() const { return images.size(); }
};

}  // namespace wasp
