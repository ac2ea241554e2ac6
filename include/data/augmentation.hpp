/// Changed copies of training images, so that a worker hardly ever sees the same one twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/image_batch.hpp"

namespace wasp {

enum class Augmentation {
    none,
    crop_flip,  ///< padded by 4 black pixels all round, cropped to its size anywhere, and mirrored
                ///< every second time.   Source: He et al. 2015, section 4.2
};

class Augmenter {
public:
    /// rank: each worker changes its images in its own way.
    Augmenter(Augmentation kind, const ImageShape& shape, std::uint64_t seed, int rank);

    /// Batch `index` of `epoch`: the same numbers give the same pixels, whatever was asked before.
    /// The result is valid until the next call, and as long as `batch`.
    ImageBatch change(const ImageBatch& batch, std::int64_t epoch, std::size_t index);

private:
    Augmentation kind_;
    ImageShape shape_;
    std::uint64_t seed_;
    int rank_;
    std::vector<std::byte> pixels_;
    std::vector<const std::byte*> images_;
};

}  // namespace wasp
