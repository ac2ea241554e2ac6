/// How far replicas are apart.
#pragma once

#include <cmath>
#include <span>

#include "tensor/vector_ops.hpp"

namespace wasp {

/// The root mean square of x − y.
inline double divergence(std::span<const float> x, std::span<const float> y) {
    return std::sqrt(squared_distance(x, y) / static_cast<double>(x.size()));
}

}  // namespace wasp
