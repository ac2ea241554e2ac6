#include "data/augmentation.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace wasp {

namespace {

constexpr int border = 4;

/// What becomes of an image: pixel (h,w) is that of (h + down, w + right) before; mirrored first.
struct Change {
    int down, right;
    bool mirrored;

    explicit Change(RandomStream& random)
        : down(static_cast<int>(random.below(2 * border + 1)) - border),
          right(static_cast<int>(random.below(2 * border + 1)) - border),
          mirrored(random.below(2) == 1) {}
};

template <class Pixel>
void apply(const Change& change, const ImageShape& shape, const std::byte* image, std::byte* out) {
    const int width = shape.width;
    // Columns [first, last) of the result come from the image, the others from the border.
    const int first = std::clamp(-change.right, 0, width);
    const int last = std::clamp(width - change.right, first, width);
    for (int c = 0; c < shape.channels; ++c)
        for (int h = 0; h < shape.height; ++h) {
            Pixel* to = reinterpret_cast<Pixel*>(out) + (c * shape.height + h) * width;
            std::fill_n(to, width, Pixel{});
            const int row = h + change.down;
            if (row < 0 || row >= shape.height) continue;
            const Pixel* from =
                reinterpret_cast<const Pixel*>(image) + (c * shape.height + row) * width;
            for (int w = first; w < last; ++w) {
                const int column = w + change.right;
                to[w] = from[change.mirrored ? width - 1 - column : column];
            }
        }
}

}  // namespace

Augmenter::Augmenter(Augmentation kind, const ImageShape& shape, std::uint64_t seed, int rank)
    : kind_(kind), shape_(shape), seed_(seed), rank_(rank) {}

ImageBatch Augmenter::change(const ImageBatch& batch, std::int64_t epoch, std::size_t index) {
    if (kind_ == Augmentation::none) return batch;
    const bool bytes = batch.pixel_type == PixelType::uint8;
    const std::size_t size = shape_.pixels() * (bytes ? 1 : sizeof(float));
    pixels_.resize(batch.size() * size);
    images_.resize(batch.size());
    // Of the epoch, then of the batch in it.
    RandomStream random(RandomStream(seed_, "augmentation", rank_, epoch)() + index, "batch");
    for (std::size_t i = 0; i < batch.size(); ++i) {
        std::byte* const out = pixels_.data() + i * size;
        const Change change(random);
        if (bytes)
            apply<std::uint8_t>(change, shape_, batch.images[i], out);
        else
            apply<float>(change, shape_, batch.images[i], out);
        images_[i] = out;
    }
    ImageBatch changed = batch;
    changed.images = images_;
    return changed;
}

}  // namespace wasp
