#include "tensor/activation_ops.hpp"

#include <cblas.h>

#include <algorithm>
#include <cstring>

#include "bf16.hpp"
#include "tensor/parallel.hpp"

namespace wasp {

namespace {

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
    const ActivationSteps steps = layout.steps(shape);
    for_each_plane(layout, shape, [&](std::size_t image, std::size_t group) {
        const E* pixel = x + steps.begin(image, group);
        float* mean = means + image * static_cast<std::size_t>(shape.channels) + group * block;
        std::fill_n(mean, block, 0.0F);
        for (int p = 0; p < shape.pixels; ++p, pixel += steps.pixel)
            for (std::size_t c = 0; c < block; ++c) mean[c] += to_float(pixel[c]);
        for (std::size_t c = 0; c < block; ++c) mean[c] *= factor;
    });
}

template <class E>
void spread(ActivationLayout layout, ActivationShape shape, const float* gradient, E* dx) {
    const auto block = static_cast<std::size_t>(layout.block);
    const float factor = 1 / static_cast<float>(shape.pixels);
    const ActivationSteps steps = layout.steps(shape);
    for_each_plane(layout, shape, [&](std::size_t image, std::size_t group) {
        E* pixel = dx + steps.begin(image, group);
        const float* from =
            gradient + image * static_cast<std::size_t>(shape.channels) + group * block;
        for (int p = 0; p < shape.pixels; ++p, pixel += steps.pixel)
            for (std::size_t c = 0; c < block; ++c) assign(from[c] * factor, pixel[c]);
    });
}

/// One side of a padded shortcut.
struct ShortcutSide {
    ActivationShape shape;
    ActivationSteps steps;
    std::size_t element, pixel;  // bytes from one to the next

    ShortcutSide(ActivationLayout layout, ActivationShape of)
        : shape(of),
          steps(layout.steps(of)),
          element(layout.element()),
          pixel(steps.pixel * element) {}
    std::size_t begin(std::size_t image, std::size_t group) const {
        return steps.begin(image, group) * element;
    }
};

struct ShortcutSides {
    ShortcutSide input, output;
    std::size_t piece;  // bytes of a pixel in a group of channels
    std::size_t kept;   // groups of channels that the input has
    int width, output_height, output_width;

    ShortcutSides(ActivationLayout layout, const PaddedShortcut& of)
        : input(layout, {of.images, of.channels, of.height * of.width}),
          output(layout, {of.images, of.new_channels, (of.height + 1) / 2 * ((of.width + 1) / 2)}),
          piece(layout.element() * static_cast<std::size_t>(layout.block)),
          kept(static_cast<std::size_t>(of.channels / layout.block)),
          width(of.width),
          output_height((of.height + 1) / 2),
          output_width((of.width + 1) / 2) {}
    /// body(byte of the input, of the output), from the beginning of a group, where pixels meet.
    template <class Body>
    void for_each_pixel(Body body) const {
        std::size_t to = 0;
        for (int h = 0; h < output_height; ++h)
            for (int w = 0; w < output_width; ++w, to += output.pixel)
                body(static_cast<std::size_t>(2 * h * width + 2 * w) * input.pixel, to);
    }
    void clear(const ShortcutSide& side, std::byte* group) const {
        for (int p = 0; p < side.shape.pixels; ++p, group += side.pixel)
            std::memset(group, 0, piece);
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
    for_each_plane(layout, sides.output.shape, [&](std::size_t image, std::size_t group) {
        std::byte* out = y + sides.output.begin(image, group);
        if (group >= sides.kept) {
            sides.clear(sides.output, out);
            return;
        }
        const std::byte* in = x + sides.input.begin(image, group);
        sides.for_each_pixel([&](std::size_t from, std::size_t to) {
            std::memcpy(out + to, in + from, sides.piece);
        });
    });
}

void padded_shortcut_gradient(ActivationLayout layout, const PaddedShortcut& shape,
                              const std::byte* dy, std::byte* dx) {
    const ShortcutSides sides(layout, shape);
    for_each_plane(layout, sides.input.shape, [&](std::size_t image, std::size_t group) {
        std::byte* out = dx + sides.input.begin(image, group);
        const std::byte* in = dy + sides.output.begin(image, group);
        sides.clear(sides.input, out);
        sides.for_each_pixel([&](std::size_t to, std::size_t from) {
            std::memcpy(out + to, in + from, sides.piece);
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
