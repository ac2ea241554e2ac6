#include "layer.hpp"

#include "base/error.hpp"

namespace wasp::nn {

Planes Activations::planes(int group) const {
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(shape.width + 2 * halo) * lanes;
    const std::ptrdiff_t plane = row * (shape.height + 2 * halo);
    return {.data = data + group * group_step + halo * (row + lanes),
            .channels = shape.channels,
            .height = shape.height,
            .width = shape.width,
            .plane = plane,
            .row = row};
}

Features Activations::features() const {
    ASSERT(halo == 0, "features with a halo");
    return {.data = data, .count = shape.count(), .groups = groups, .group_step = group_step};
}

std::size_t Activations::floats_per_group() const {
    return static_cast<std::size_t>(shape.channels) *
           static_cast<std::size_t>(shape.height + 2 * halo) *
           static_cast<std::size_t>(shape.width + 2 * halo) * static_cast<std::size_t>(lanes);
}

std::size_t ParameterShape::count() const {
    std::size_t product = 1;
    for (const std::size_t dimension : dimensions) product *= dimension;
    return product;
}

}  // namespace wasp::nn
