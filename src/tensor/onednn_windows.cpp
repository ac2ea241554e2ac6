#include "onednn_windows.hpp"

#include <algorithm>
#include <cstring>

#include "tensor/parallel.hpp"

namespace wasp {

Windows::Windows(const ConvolutionShape& shape, std::size_t element)
    : shape_(shape), pixel_(static_cast<std::size_t>(shape.inputs) * element) {}

std::size_t Windows::bytes() const {
    return pixel_ * static_cast<std::size_t>(shape_.kernel * shape_.kernel) *
           static_cast<std::size_t>(shape_.images) *
           static_cast<std::size_t>(shape_.output_pixels());
}

template <class Body>
void Windows::for_each(std::size_t image, Body body) const {
    const auto first = image * static_cast<std::size_t>(shape_.output_pixels());
    for (int h = 0; h < shape_.output_height(); ++h)
        for (int w = 0; w < shape_.output_width(); ++w)
            body(first + static_cast<std::size_t>(h * shape_.output_width() + w),
                 h * shape_.stride - shape_.padding(), w * shape_.stride - shape_.padding());
}

/// body(image), shared out among the threads.
template <class Body>
void Windows::for_each_image(Body body) const {
    parallel_ranges(static_cast<std::size_t>(shape_.images), 1,
                    [&](std::size_t begin, std::size_t end) {
                        for (std::size_t image = begin; image < end; ++image) body(image);
                    });
}

void Windows::gather(const std::byte* x, std::byte* matrix) const {
    const int kernel = shape_.kernel;
    const auto row_bytes = static_cast<std::size_t>(kernel * kernel) * pixel_;
    for_each_image([&](std::size_t n) {
        const std::byte* image = x + n * static_cast<std::size_t>(shape_.input_pixels()) * pixel_;
        for_each(n, [&](std::size_t row, int h, int w) {
            std::byte* out = matrix + row * row_bytes;
            const int before = std::clamp(-w, 0, kernel);  // pixels left of the image
            const int inside = std::clamp(shape_.width - w, before, kernel) - before;
            const auto left = static_cast<std::size_t>(before) * pixel_;
            const auto middle = static_cast<std::size_t>(inside) * pixel_;
            const auto line = static_cast<std::size_t>(kernel) * pixel_;
            for (int i = h; i < h + kernel; ++i, out += line) {
                if (i < 0 || i >= shape_.height) {
                    std::memset(out, 0, line);
                    continue;
                }
                std::memset(out, 0, left);
                std::memcpy(
                    out + left,
                    image + static_cast<std::size_t>(i * shape_.width + w + before) * pixel_,
                    middle);
                std::memset(out + left + middle, 0, line - left - middle);
            }
        });
    });
}

void Windows::scatter(const std::byte* matrix, std::byte* x) const {
    const auto image_bytes = static_cast<std::size_t>(shape_.input_pixels()) * pixel_;
    for_each_image([&](std::size_t n) {
        std::byte* image = x + n * image_bytes;
        std::memset(image, 0, image_bytes);
        for_each(n, [&](std::size_t row, int h, int w) {
            std::memcpy(image + static_cast<std::size_t>(h * shape_.width + w) * pixel_,
                        matrix + row * pixel_, pixel_);
        });
    });
}

}  // namespace wasp
