/// Private to src/data/: which dimension of an array of images is which.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tensor/image_batch.hpp"

namespace wasp {

/// What is known of an array of images beside its shape.
struct AxisHints {
    std::string axes{};        ///< as check_axes(); empty: decided from the shape
    bool images_first = true;  ///< the first axis is known to count the images
    bool reversed = false;     ///< of a program that counts columns first: w stands before h
    std::size_t labels = 0;    ///< as many images are expected
    std::optional<ImageShape> image{};  ///< of flattened ones
};

struct AxisOrder {
    std::string letters;  ///< as check_axes(); c only where it is a dimension; flattened ones apart
    std::size_t outer = 1;  ///< the array's first dimension is that of so many letters
    std::size_t images = 0;
    ImageShape shape;

    std::size_t side(char letter) const;
};

/// where: to start messages with.   sides: of the array.
/// Error: no shape of images, or one that does not tell its axes; names --axes.
AxisOrder decide_axes(const std::string& where, const std::vector<std::size_t>& sides,
                      const AxisHints& hints);

}  // namespace wasp
