/// Images of noise with labels drawn at random, for benchmarks.
#pragma once

#include <cstddef>
#include <vector>

#include "tensor/image_batch.hpp"

namespace wasp {

class MadeUpImages {
public:
    static constexpr std::size_t count = 2048;  ///< more than the caches next to a core hold

    MadeUpImages(ImageShape shape, int classes);

    /// The mini-batch of a step.   size: images, at most `count`.
    ImageBatch batch(std::size_t step, std::size_t size) const;

private:
    std::vector<std::byte> pixels_;
    std::vector<float> scale_, shift_;
    std::vector<const std::byte*> images_;
    std::vector<int> labels_;
};

}  // namespace wasp
