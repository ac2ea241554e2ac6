#include "data/augmentation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

namespace wasp {
namespace {

constexpr ImageShape shape{2, 12, 10};
constexpr std::size_t images = 400;

/// Pixels are numbered from 1 within an image, so that each tells where it was; 0 is the border.
template <class Pixel>
struct Numbered {
    Numbered() : pixels(images * shape.pixels()), labels(images) {
        for (std::size_t i = 0; i < pixels.size(); ++i)
            pixels[i] = static_cast<Pixel>(i % shape.pixels() + 1);
        for (std::size_t i = 0; i < images; ++i)
            pointers.push_back(reinterpret_cast<const std::byte*>(&pixels[i * shape.pixels()]));
        std::iota(labels.begin(), labels.end(), 0);
    }
    ImageBatch batch() const {
        return {.images = pointers,
                .labels = labels,
                .pixel_type = sizeof(Pixel) == 1 ? PixelType::uint8 : PixelType::float32,
                .scale = {},
                .shift = {}};
    }
    std::vector<Pixel> pixels;
    std::vector<const std::byte*> pointers;
    std::vector<int> labels;
};

template <class Pixel>
std::vector<std::vector<int>> pixels_of(const ImageBatch& batch) {
    std::vector<std::vector<int>> all;
    for (const std::byte* image : batch.images) {
        const auto* first = reinterpret_cast<const Pixel*>(image);
        all.emplace_back(first, first + shape.pixels());
    }
    return all;
}

/// The image shifted by (down, right), mirrored before.
std::vector<int> expected(int down, int right, bool mirrored) {
    std::vector<int> out;
    for (int c = 0; c < shape.channels; ++c)
        for (int h = 0; h < shape.height; ++h)
            for (int w = 0; w < shape.width; ++w) {
                const int row = h + down;
                int column = w + right;
                if (row < 0 || row >= shape.height || column < 0 || column >= shape.width) {
                    out.push_back(0);
                    continue;
                }
                if (mirrored) column = shape.width - 1 - column;
                out.push_back((c * shape.height + row) * shape.width + column + 1);
            }
    return out;
}

template <class Pixel>
void expect_every_crop_about_as_often() {
    const Numbered<Pixel> numbered;
    Augmenter augmenter(Augmentation::crop_flip, shape, 1, 0);
    std::set<std::vector<int>> possible, seen;
    for (int down = -4; down <= 4; ++down)
        for (int right = -4; right <= 4; ++right)
            for (const bool mirrored : {false, true})
                possible.insert(expected(down, right, mirrored));
    ASSERT_EQ(possible.size(), 162U);
    for (std::size_t index = 0; index < 5; ++index) {
        const ImageBatch batch = augmenter.change(numbered.batch(), 3, index);
        ASSERT_EQ(batch.size(), images);
        EXPECT_EQ(batch.labels.data(), numbered.labels.data());
        for (const auto& pixels : pixels_of<Pixel>(batch)) {
            EXPECT_TRUE(possible.contains(pixels));
            seen.insert(pixels);
        }
    }
    EXPECT_EQ(seen, possible) << "2,000 draws miss one of 162 once in 1,500 times";
}

TEST(Augmentation, MakesEveryCropAndItsMirrorImage) {
    expect_every_crop_about_as_often<std::uint8_t>();
    expect_every_crop_about_as_often<float>();
}

TEST(Augmentation, DependsOnSeedRankEpochAndBatchAlone) {
    const Numbered<std::uint8_t> numbered;
    const auto change = [&](std::uint64_t seed, int rank, std::int64_t epoch, std::size_t index) {
        Augmenter augmenter(Augmentation::crop_flip, shape, seed, rank);
        return pixels_of<std::uint8_t>(augmenter.change(numbered.batch(), epoch, index));
    };
    const auto first = change(1, 0, 2, 3);
    EXPECT_EQ(change(1, 0, 2, 3), first);
    EXPECT_NE(change(2, 0, 2, 3), first);
    EXPECT_NE(change(1, 1, 2, 3), first);
    EXPECT_NE(change(1, 0, 3, 3), first);
    EXPECT_NE(change(1, 0, 2, 4), first);
    Augmenter augmenter(Augmentation::crop_flip, shape, 1, 0);
    augmenter.change(numbered.batch(), 2, 9);
    EXPECT_EQ(pixels_of<std::uint8_t>(augmenter.change(numbered.batch(), 2, 3)), first)
        << "whatever came before: a resumed run goes on as if never stopped";
}

TEST(Augmentation, NoneLeavesTheImagesWhereTheyAre) {
    const Numbered<float> numbered;
    Augmenter augmenter(Augmentation::none, shape, 1, 0);
    EXPECT_EQ(augmenter.change(numbered.batch(), 0, 0).images.data(), numbered.pointers.data());
}

}  // namespace
}  // namespace wasp
