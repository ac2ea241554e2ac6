/// Which training images are held out for validation: the same ones on every rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wasp {

struct Holdout {
    std::vector<std::uint32_t> train, validation;  ///< indices of images, ascending
};

/// `count` of `images`, drawn at random.   Error: nothing is left to train on.
Holdout hold_out(std::size_t images, std::size_t count, std::uint64_t seed);

}  // namespace wasp
