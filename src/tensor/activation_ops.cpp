#include "tensor/activation_ops.hpp"

#include <cblas.h>

#include <algorithm>
#include <cstring>

#include "bf16.hpp"
#include "tensor/parallel.hpp"

namespace wasp {

namespace {

/// Where the pixels of (image, group of `block` channels) begin, in elements.
std::size_t plane(ActivationLayout layout, ActivationShape shape, std::size_t image,
                  std::size_t group) {
    const auto block = static_cast<std::size_t>(layout.block);
    const auto area = static_cast<std::size_t>(shape.pixels) * block;
    const auto groups = static_cast<std::size_t>(shape.channels) / block;
    const auto images = static_cast<std::size_t>(shape.images);
    return (block == 1 ? group * images + image : image * groups + group) * area;
}

/// body(image, group) for all, shared out among the threads by images.
template <class Body>
void for_each_plane(ActivationLayout layout, ActivationShape shape, Body body) {
    const auto groups = static_cast<std::size_t>(shape.channels / layout.block);
    parallel_ranges(static_cast<std::size_t>(shape.images), 1,
                    [&](std::size_t begin, std::size_t end) {
                        for (std::size_t image = begin; image < end; ++image)
                            for (std::size_t group = 0; group < groups; ++group) body(image, group);
                    });
}

/// call(E{}) with the type of the elements.
template <class Call>
void with_element(ActivationLayout layout, Call call) {
    if (layout.precision == Precision::bf16)
        call(Bf16{});
    else
        call(float{});
}

template <class E>
void mean_of(ActivationLayout layout, ActivationShape shape, const E* x, float* means) {
    const auto block = static_cast<std::size_t>(layout.block);
    const float factor = 1 / static_cast<float>(shape.pixels);
    for_each_plane(layout, shape, [&](std::size_t image, std::size_t group) {
        const E* pixel = x + plane(layout, shape, image, group);
        float* mean = means + image * static_cast<std::size_t>(shape.channels) + group * block;
        std::fill_n(mean, block, 0.0F);
        for (int p = 0; p < shape.pixels; ++p, pixel += block)
            for (std::size_t c = 0; c < block; ++c) mean[c] += to_float(pixel[c]);
        for (std::size_t c = 0; c < block; ++c) mean[c] *= factor;
    });
}

template <class E>
void spread(ActivationLayout layout, ActivationShape shape, const float* gradient, E* dx) {
    const auto block = static_cast<std::size_t>(layout.block);
    const float factor = 1 / static_cast<float>(shape.pixels);
    for_each_plane(layout, shape, [&](std::size_t image, std::size_t group) {
        E* pixel = dx + plane(layout, shape, image, group);
        const float* from =
            gradient + image * static_cast<std::size_t>(shape.channels) + group * block;
        for (int p = 0; p < shape.pixels; ++p, pixel += block)
            for (std::size_t c = 0; c < block; ++c) assign(from[c] * factor, pixel[c]);
    });
}

/// Both sides of a padded shortcut.
struct ShortcutSides {
    ActivationShape input, output;
    std::size_t kept;  // groups of channels that the input has
    int width, output_height, output_width;

    ShortcutSides(ActivationLayout layout, const PaddedShortcut& shape)
        : input{shape.images, shape.channels, shape.height * shape.width},
          kept(static_cast<std::size_t>(shape.channels / layout.block)),
          width(shape.width),
          output_height((shape.height + 1) / 2),
          output_width((shape.width + 1) / 2) {
        output = {shape.images, shape.new_channels, output_height * output_width};
    }
    /// body(pixel of the input, of the output) for those that meet.
    template <class Body>
    void for_each_pixel(Body body) const {
        std::size_t to = 0;
        for (int h = 0; h < output_height; ++h)
            for (int w = 0; w < output_width; ++w, ++to)
                body(static_cast<std::size_t>(2 * h * width + 2 * w), to);
    }
};

}  // namespace

void global_mean(ActivationLayout layout, ActivationShape shape, const std::byte* x, float* means) {
    with_element(layout, [&]<class E>(E /*kind*/) {
        mean_of(layout, shape, reinterpret_cast<const E*>(x), means);
    });
}

void global_mean_gradient(ActivationLayout layout, ActivationShape shape, const float* gradient,
                          std::byte* dx) {
    with_element(layout, [&]<class E>(E /*kind*/) {
        spread(layout, shape, gradient, reinterpret_cast<E*>(dx));
    });
}

void padded_shortcut(ActivationLayout layout, const PaddedShortcut& shape, const std::byte* x,
                     std::byte* y) {
    const ShortcutSides sides(layout, shape);
    const std::size_t pixel = layout.element() * static_cast<std::size_t>(layout.block);
    for_each_plane(layout, sides.output, [&](std::size_t image, std::size_t group) {
        std::byte* out = y + plane(layout, sides.output, image, group) * layout.element();
        if (group >= sides.kept) {
            std::memset(out, 0, static_cast<std::size_t>(sides.output.pixels) * pixel);
            return;
        }
        const std::byte* in = x + plane(layout, sides.input, image, group) * layout.element();
        sides.for_each_pixel([&](std::size_t from, std::size_t to) {
            std::memcpy(out + to * pixel, in + from * pixel, pixel);
        });
    });
}

void padded_shortcut_gradient(ActivationLayout layout, const PaddedShortcut& shape,
                              const std::byte* dy, std::byte* dx) {
    const ShortcutSides sides(layout, shape);
    const std::size_t pixel = layout.element() * static_cast<std::size_t>(layout.block);
    for_each_plane(layout, sides.input, [&](std::size_t image, std::size_t group) {
        std::byte* out = dx + plane(layout, sides.input, image, group) * layout.element();
        const std::byte* in = dy + plane(layout, sides.output, image, group) * layout.element();
        std::memset(out, 0, static_cast<std::size_t>(sides.input.pixels) * pixel);
        sides.for_each_pixel([&](std::size_t to, std::size_t from) {
            std::memcpy(out + to * pixel, in + from * pixel, pixel);
        });
    });
}

void dense(const Dense& shape, const float* x, const float* weights, const float* bias, float* y) {
    for (int n = 0; n < shape.images; ++n)
        std::copy_n(bias, shape.outputs, y + std::ptrdiff_t{n} * shape.outputs);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, shape.images, shape.outputs, shape.inputs,
                1, x, shape.inputs, weights, shape.inputs, 1, y, shape.outputs);
}

void dense_gradient(const Dense& shape, const float* x, const float* weights, const float* dy,
                    float* weight_gradient, float* bias_gradient, float* dx) {
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, shape.outputs, shape.inputs, shape.images,
                1, dy, shape.outputs, x, shape.inputs, 0, weight_gradient, shape.inputs);
    std::fill_n(bias_gradient, shape.outputs, 0.0F);
    for (int n = 0; n < shape.images; ++n)
        for (int o = 0; o < shape.outputs; ++o)
            bias_gradient[o] += dy[static_cast<std::ptrdiff_t>(n) * shape.outputs + o];
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, shape.images, shape.inputs,
                shape.outputs, 1, dy, shape.outputs, weights, shape.inputs, 0, dx, shape.inputs);
}

}  // namespace wasp
