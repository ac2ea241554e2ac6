#include "base/error.hpp"
#include "data/dataset.hpp"

namespace wasp {

Split Split::part(std::size_t first, std::size_t count) const {
    ENSURE(first <= size() && count <= size() - first, "bug: images {} + {} of {}", first, count,
           size());
    return {images.subspan(first * image_bytes, count * image_bytes), labels.subspan(first, count),
            image_bytes};
}

BatchMaker::BatchMaker(const Dataset& dataset, const Split& split)
    : dataset_(dataset), split_(split) {}

ImageBatch BatchMaker::make(std::span<const std::uint32_t> indices) {
    images_.clear();
    labels_.clear();
    for (const std::uint32_t index : indices) {
        ASSERT(index < split_.size(), "image {} of {}", index, split_.size());
        images_.push_back(split_.image(index));
        labels_.push_back(split_.labels[index]);
    }
    return {images_, labels_, dataset_.pixel_type, dataset_.scale, dataset_.shift};
}

}  // namespace wasp
