// Sound and unsound HDF5 files of many kinds, made by make_files.py: what is accepted must be the
// same images and labels whatever the layout, storage and types; what is refused must say why.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"
#include "data/dataset.hpp"
#include "data/import.hpp"
#include "data/inspect.hpp"
#include "support/dataset.hpp"
#include "support/files.hpp"
#include "support/options.hpp"
#include "support/output_of.hpp"
#include "support/scratch.hpp"

namespace wasp {
namespace {

using test::load;

constexpr std::size_t train = 40, test_images = 20;

struct Row {
    std::string file, expected, message, options;
    bool one_split() const { return expected.starts_with("one"); }
};

/// options: "axes=hwn bgr=1 …", as of 'wasp data import hdf5'.
Interpretation interpret(const std::string& options) {
    Interpretation meaning;
    std::istringstream words(options);
    for (std::string word; words >> word;) {
        const auto key = word.substr(0, word.find('='));
        const auto value = word.substr(key.size() + 1);
        if (key == "axes") meaning.axes = value;
        if (key == "images") meaning.images = value;
        if (key == "labels") meaning.labels = value;
        if (key == "bgr") meaning.bgr = true;
        if (key == "scale") meaning.scale = Scale::wrapped;
    }
    return meaning;
}

class Hdf5Kinds : public testing::Test {
protected:
    static void SetUpTestSuite() {
        folder = std::make_unique<test::Scratch>();
        test::output_of(test::options.python + " test/data/make_files.py " +
                        folder->path().string());
        std::ifstream table(*folder / "table.tsv");
        for (std::string line; std::getline(table, line);) {
            std::istringstream fields(line);
            auto& row = rows.emplace_back();
            std::getline(fields, row.file, '\t');
            std::getline(fields, row.expected, '\t');
            std::getline(fields, row.message, '\t');
            std::getline(fields, row.options);
        }
    }
    static void TearDownTestSuite() {
        folder.reset();
        rows.clear();
    }

    static inline std::unique_ptr<test::Scratch> folder;
    static inline std::vector<Row> rows;
};

/// `bytes` as the pixels of a float dataset that was made by dividing by 255.
void expect_quotients(std::span<const std::byte> pixels, const std::string& bytes) {
    ASSERT_EQ(pixels.size(), bytes.size() * sizeof(float));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        float value = 0;
        std::memcpy(&value, pixels.data() + i * sizeof value, sizeof value);
        ASSERT_NEAR(value, static_cast<unsigned char>(bytes[i]) / 255.0, 1e-7) << i;
    }
}

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void expect_split(const Split& split, const std::string& images, const std::string& labels,
                  bool as_floats) {
    if (as_floats)
        expect_quotients(split.images, images);
    else
        EXPECT_TRUE(text_of(split.images) == images);
    EXPECT_TRUE(text_of(std::as_bytes(split.labels)) == labels);
}

TEST_F(Hdf5Kinds, WhatIsAcceptedIsTheSameWhateverTheFormat) {
    const auto labels = test::read_file(*folder / "labels.bin");
    std::size_t compared = 0;
    for (const auto& row : rows) {
        const auto& [file, expected, message, options] = row;
        if (expected == "reject" || row.one_split()) continue;
        SCOPED_TRACE(file);
        const auto dataset = load(*folder / file);
        EXPECT_EQ(dataset.classes, 10);
        EXPECT_EQ(dataset.train.size(), train);
        EXPECT_EQ(dataset.test.size(), test_images);
        EXPECT_TRUE(test::contains(check_data_file(*folder / file), "sound"));
        if (expected == "accept") continue;
        const bool rgb = expected == "rgb";
        EXPECT_EQ(dataset.shape, (rgb ? ImageShape{3, 32, 32} : ImageShape{1, 28, 28}));
        const auto images = test::read_file(*folder / (rgb ? "rgb.bin" : "grey.bin"));
        const std::size_t cut = train * dataset.shape.pixels();
        const std::size_t label_cut = train * sizeof(std::uint16_t);
        const bool floats = expected == "float";
        expect_split(dataset.train, images.substr(0, cut), labels.substr(0, label_cut), floats);
        expect_split(dataset.test, images.substr(cut), labels.substr(label_cut), floats);
        ++compared;
    }
    EXPECT_GE(compared, 50U);
}

TEST_F(Hdf5Kinds, WhatIsRefusedSaysWhichFileAndWhy) {
    std::size_t refused = 0;
    for (const auto& [file, expected, message, options] : rows) {
        if (expected != "reject") continue;
        SCOPED_TRACE(file);
        const auto path = *folder / file;
        for (const auto& refusal : {test::refusal_of([&] { load(path); }),
                                    test::refusal_of([&] { check_data_file(path); })}) {
            EXPECT_TRUE(test::contains(refusal, file)) << refusal;
            EXPECT_TRUE(test::contains(refusal, message)) << refusal << "\nlacks: " << message;
        }
        ++refused;
    }
    EXPECT_GE(refused, 80U);
}

TEST_F(Hdf5Kinds, OneSplitIsTheSameInEveryOrderOfItsAxes) {
    const auto labels = test::read_file(*folder / "labels.bin");
    const test::Scratch scratch;
    std::size_t imported = 0;
    std::size_t refused = 0;
    for (const auto& row : rows) {
        if (!row.one_split()) continue;
        SCOPED_TRACE(row.file + ' ' + row.options);
        const auto path = *folder / row.file;
        const auto out = scratch / row.file;
        const auto import = [&] { import_hdf5(path, path, interpret(row.options), out); };
        if (row.expected == "one reject") {
            const auto refusal = test::refusal_of(import);
            EXPECT_TRUE(test::contains(refusal, row.message)) << refusal;
            EXPECT_FALSE(std::filesystem::exists(out));
            ++refused;
            continue;
        }
        import();
        const auto dataset = load(out);
        const bool rgb = row.expected == "one rgb";
        EXPECT_EQ(dataset.shape, (rgb ? ImageShape{3, 32, 32} : ImageShape{1, 28, 28}));
        const auto images = test::read_file(*folder / (rgb ? "rgb.bin" : "grey.bin"));
        expect_split(dataset.train, images.substr(0, train * dataset.shape.pixels()),
                     labels.substr(0, train * sizeof(std::uint16_t)), false);
        ++imported;
    }
    EXPECT_GE(imported, 60U);
    EXPECT_GE(refused, 15U);
}

TEST_F(Hdf5Kinds, ConstantImagesAreNotDividedByZero) {
    const auto dataset = load(*folder / "constant.h5");
    EXPECT_EQ(dataset.deviation, std::vector<float>{1});
    EXPECT_EQ(dataset.shift, std::vector<float>{0});
    EXPECT_FLOAT_EQ(dataset.scale[0], 1.0F / 255);
}

TEST_F(Hdf5Kinds, StatisticsAreThoseOfThePixelsBetweenZeroAndOne) {
    const auto bytes = load(*folder / "rgb_nhwc.h5");
    double sum = 0;  // of the second channel, by the definition
    double squares = 0;
    constexpr std::size_t plane = std::size_t{32} * 32;
    for (std::size_t i = 0; i < train; ++i)
        for (std::size_t k = plane; k < 2 * plane; ++k) {
            const double value = std::to_integer<int>(bytes.train.image(i)[k]) / 255.0;
            sum += value;
            squares += value * value;
        }
    const double mean = sum / (train * plane);
    const double deviation = std::sqrt(squares / (train * plane) - mean * mean);
    ASSERT_EQ(bytes.mean.size(), 3U);
    EXPECT_NEAR(bytes.mean[1], mean, 1e-6);
    EXPECT_NEAR(bytes.deviation[1], deviation, 1e-6);
    EXPECT_NEAR(bytes.scale[1], 1 / (255 * deviation), 1e-6);
    EXPECT_NEAR(bytes.shift[1], -mean / deviation, 1e-5);

    const auto grey = load(*folder / "contiguous.h5");
    const auto floats = load(*folder / "unit_f4.h5");
    EXPECT_NEAR(floats.mean[0], grey.mean[0], 1e-6);
    EXPECT_NEAR(floats.deviation[0], grey.deviation[0], 1e-6);
    EXPECT_NEAR(floats.scale[0], 255 * grey.scale[0], 1e-4);
    EXPECT_NEAR(floats.shift[0], grey.shift[0], 1e-5);
}

TEST_F(Hdf5Kinds, TheSameImagesHaveTheSameSha256InEveryLayout) {
    EXPECT_EQ(load(*folder / "fuel.h5").sha256, load(*folder / "flat_784.h5").sha256);
    EXPECT_NE(load(*folder / "fuel.h5").sha256, load(*folder / "rgb_nchw.h5").sha256);
}

}  // namespace
}  // namespace wasp
