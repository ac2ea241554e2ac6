/// Tensors of the reference kernels in an ActivationLayout, and back.
#pragma once

#include <cstring>

#include "lanes.hpp"
#include "tensor/activation_layout.hpp"

namespace wasp::test {

/// For the name of a test.
inline std::string name_of(ActivationOrder order) {
    switch (order) {
        case ActivationOrder::planes:
            return "_planes";
        case ActivationOrder::blocks:
            return "_blocks";
        case ActivationOrder::channels_last:
            break;
    }
    return "_channels_last";
}

/// Memory for `images` of a tensor's shape; more images than the tensor has hold NaN, as whatever
/// reads them must not matter.
class InLayout {
public:
    InLayout(ActivationLayout layout, int images, int channels, int height, int width)
        : layout_(layout),
          images_(images),
          channels_(channels),
          height_(height),
          width_(width),
          memory_(layout.bytes(images, channels, height * width) / sizeof(float) + 1, NAN) {}
    InLayout(ActivationLayout layout, const Tensor& tensor)
        : InLayout(layout, tensor.images, tensor.channels, tensor.height, tensor.width) {
        for_each([&](std::size_t at, int n, int c, int h, int w) {
            const auto value = static_cast<float>(tensor.at(n, c, h, w));
            if (layout_.precision == Precision::float32) {
                memory_[at] = value;
                return;
            }
            std::uint32_t word = 0;
            std::memcpy(&word, &value, sizeof word);
            const auto half = static_cast<std::uint16_t>((word + 0x8000U) >> 16U);
            std::memcpy(data() + 2 * at, &half, sizeof half);
        });
    }

    std::byte* data() { return reinterpret_cast<std::byte*>(memory_.data()); }

    Tensor tensor() {
        Tensor out(images_, channels_, height_, width_);
        for_each([&](std::size_t at, int n, int c, int h, int w) {
            std::uint32_t word = 0;
            if (layout_.precision == Precision::float32) {
                std::memcpy(&word, &memory_[at], sizeof word);
            } else {
                std::uint16_t half = 0;
                std::memcpy(&half, data() + 2 * at, sizeof half);
                word = static_cast<std::uint32_t>(half) << 16U;
            }
            float value = 0;
            std::memcpy(&value, &word, sizeof value);
            out.at(n, c, h, w) = value;
        });
        return out;
    }

private:
    template <class Body>
    void for_each(Body body) const {
        for (int n = 0; n < images_; ++n)
            for (int c = 0; c < channels_; ++c)
                for (int h = 0; h < height_; ++h)
                    for (int w = 0; w < width_; ++w) body(index(n, c, h * width_ + w), n, c, h, w);
    }
    std::size_t index(int n, int c, int pixel) const {
        // Written out once more, not asked of the layout: this is what holds it to its word.
        const int block = layout_.block, pixels = height_ * width_;
        if (layout_.order == ActivationOrder::channels_last)
            return static_cast<std::size_t>((n * pixels + pixel) * channels_ + c);
        const int plane = layout_.order == ActivationOrder::planes
                              ? c * images_ + n
                              : n * (channels_ / block) + c / block;
        return static_cast<std::size_t>((plane * pixels + pixel) * block + c % block);
    }

    ActivationLayout layout_;
    int images_, channels_, height_, width_;
    AlignedFloats memory_;
};

}  // namespace wasp::test
