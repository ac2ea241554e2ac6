// What people see of data files: pictures, and how far reading has come.
#include <gtest/gtest.h>
#include <png.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "../../src/data/reading_progress.hpp"
#include "data/import.hpp"
#include "data/inspect.hpp"
#include "support/dataset.hpp"
#include "support/files.hpp"
#include "support/scratch.hpp"

namespace wasp {
namespace {

using namespace std::chrono_literals;
using test::contains;

struct Picture {
    std::size_t width = 0, height = 0;
    std::vector<std::uint8_t> rgb;
    std::uint8_t at(std::size_t x, std::size_t y, std::size_t channel) const {
        return rgb[(y * width + x) * 3 + channel];
    }
};

Picture read_png(const std::filesystem::path& path) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_NE(png_image_begin_read_from_file(&image, path.c_str()), 0);
    image.format = PNG_FORMAT_RGB;
    Picture picture{image.width, image.height, std::vector<std::uint8_t>(PNG_IMAGE_SIZE(image))};
    EXPECT_NE(png_image_finish_read(&image, nullptr, picture.rgb.data(), 0, nullptr), 0);
    return picture;
}

class Png : public testing::Test {
protected:
    /// A picture of made-up data, and the first image of class 0.
    Picture draw(const ImageShape& shape) {
        synthesise({.classes = 3, .shape = shape, .train = 60, .test = 6}, data_);
        dataset_info(data_, png_);
        const auto dataset = test::load(data_);
        std::size_t first = 0;
        while (dataset.train.labels[first] != 0) ++first;
        const auto* image = dataset.train.image(first);
        image_.assign(image, image + dataset.train.image_bytes);
        return read_png(png_);
    }
    int pixel(std::size_t index) const { return std::to_integer<int>(image_[index]); }

    test::Scratch folder_;
    const std::filesystem::path data_ = folder_ / "synth.h5", png_ = folder_ / "synth.png";
    std::vector<std::byte> image_;
};

// Cells of ten columns and a row a class, gaps of two pixels; images of 7 x 7 are enlarged 8 times.
TEST_F(Png, ShowsTheFirstImagesOfEachClass) {
    const auto picture = draw({3, 7, 7});
    EXPECT_EQ(picture.width, 10 * 58 + 2U);
    EXPECT_EQ(picture.height, 3 * 58 + 2U);
    for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_NEAR(picture.at(2, 2, c), pixel(c * 49), 1);
        EXPECT_NEAR(picture.at(2 + 8 * 3 + 7, 2 + 8 * 5, c), pixel(c * 49 + 5 * 7 + 3), 1);
    }
}

TEST_F(Png, GreyImagesAndThoseOfOtherChannelsAreGrey) {
    const auto grey = draw({1, 60, 70});
    EXPECT_EQ(grey.width, 10 * 72 + 2U);
    EXPECT_EQ(grey.height, 3 * 62 + 2U);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(grey.at(2 + 9, 2 + 4, c), pixel(4 * 70 + 9), 1);
    std::filesystem::remove(data_);
    std::filesystem::remove(png_);
    const auto mean = draw({2, 60, 60});
    EXPECT_NEAR(mean.at(2, 2, 1), (pixel(0) + pixel(3600)) / 2, 1);
}

TEST_F(Png, AnExistingFileIsNotTouched) {
    draw({1, 8, 8});
    const auto before = test::read_file(png_);
    EXPECT_TRUE(contains(test::refusal_of([&] { dataset_info(data_, png_); }), "exists"));
    EXPECT_EQ(test::read_file(png_), before);
}

TEST(ReadingProgress, IsSilentForASecondAndThenSeldom) {
    std::ostringstream out;
    const auto start = ReadingProgress::Clock::now();
    {
        ReadingProgress progress("data.h5", 400'000'000, out, false);
        progress.add(100'000'000, start);
        EXPECT_EQ(out.str(), "");
        progress.add(100'000'000, start + 60s);
        progress.add(100'000'000, start + 61s);
    }
    EXPECT_EQ(out.str(), "wasp: reading data.h5: 200 of 400 MB\n");
}

TEST(ReadingProgress, IsOneLineOfATerminalThatIsWipedOut) {
    std::ostringstream out;
    const auto start = ReadingProgress::Clock::now();
    {
        ReadingProgress progress("data.h5", 400'000'000, out, true);
        progress.add(100'000'000, start + 60s);
        progress.add(100'000'000, start + 61s);
        EXPECT_FALSE(contains(out.str(), "\n"));
        EXPECT_TRUE(out.str().ends_with("\rreading data.h5: 200 of 400 MB")) << out.str();
    }
    EXPECT_TRUE(out.str().ends_with("\r\x1b[K"));
}

}  // namespace
}  // namespace wasp
