// Conversion of HDF5 files with options for what they do not say.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"
#include "data/dataset.hpp"
#include "data/import.hpp"
#include "data/inspect.hpp"
#include "h5/atomic_file.hpp"
#include "h5/writer.hpp"
#include "support/dataset.hpp"
#include "support/files.hpp"
#include "support/scratch.hpp"

namespace wasp {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::load;
using test::refusal_of;

float float_at(const Split& split, std::size_t image, std::size_t pixel) {
    float value = 0;
    std::memcpy(&value, split.image(image) + pixel * sizeof value, sizeof value);
    return value;
}

class ImportHdf5 : public testing::Test {
protected:
    static constexpr std::size_t count = 12;

    /// One split, whose pixel k of image i is factor · (i + k) + offset.
    template <class Pixel>
    fs::path write(const std::string& name, const h5::Shape& image, double factor,
                   double offset = 0, const std::string& images = "images",
                   const std::string& labels = "labels", std::int32_t base = 0) {
        h5::Shape shape{count};
        std::size_t size = 1;
        for (const std::size_t side : image) {
            shape.push_back(side);
            size *= side;
        }
        std::vector<Pixel> pixels;
        std::vector<std::int32_t> classes;
        for (std::size_t i = 0; i < count; ++i) {
            classes.push_back(static_cast<std::int32_t>(i % 3) + base);
            for (std::size_t k = 0; k < size; ++k)
                pixels.push_back(static_cast<Pixel>(factor * static_cast<double>(i + k) + offset));
        }
        h5::Writer writer;
        writer.dataset("/" + images, pixels, shape);
        writer.dataset("/" + labels, classes, {count});
        h5::replace_file(folder_ / name, writer.finish());
        return folder_ / name;
    }
    Dataset import(const fs::path& train, const fs::path& tests,
                   const Interpretation& interpretation = {}) {
        fs::remove(out_);
        import_hdf5(train, tests, interpretation, out_);
        EXPECT_TRUE(contains(check_data_file(out_), "sound"));
        return load(out_);
    }
    test::Scratch folder_;
    const fs::path out_ = folder_ / "out.h5";
};

TEST_F(ImportHdf5, TwoFilesOfOneSplitBecomeOne) {
    const auto train = write<std::uint8_t>("train.h5", {8, 8}, 2);
    const auto tests = write<std::uint8_t>("test.h5", {8, 8}, 3);
    const auto dataset = import(train, tests);
    EXPECT_EQ(dataset.layout, "wasp");
    EXPECT_EQ(dataset.name, "out");
    EXPECT_EQ(dataset.classes, 3);
    EXPECT_EQ(dataset.train.image(5)[7], std::byte{24});
    EXPECT_EQ(dataset.test.image(5)[7], std::byte{36});
    EXPECT_TRUE(contains(refusal_of([&] { import_hdf5(train, {}, {}, folder_ / "other.h5"); }),
                         "one split only"));
    EXPECT_TRUE(contains(refusal_of([&] { import_hdf5(out_, tests, {}, folder_ / "other.h5"); }),
                         "training and test data"));
    EXPECT_FALSE(fs::exists(folder_ / "other.h5"));
    run_on_threads(1, [&](Cluster& cluster) {
        EXPECT_TRUE(contains(refusal_of([&] { load_dataset(train, cluster); }), "one split only"));
    });
}

TEST_F(ImportHdf5, FilesOfAListStandOneAfterTheOther) {
    write<std::uint8_t>("a.h5", {8, 8}, 2);
    write<std::uint8_t>("b.h5", {8, 8}, 3);
    const auto list = folder_ / "list.txt";
    test::write_file(list, "a.h5\n" + (folder_ / "b.h5").string() + "\r\n\n");
    const auto dataset = import(list, folder_ / "a.h5");
    EXPECT_EQ(dataset.train.size(), 2 * count);
    EXPECT_EQ(dataset.test.size(), count);
    EXPECT_EQ(dataset.train.image(5)[7], std::byte{24});
    EXPECT_EQ(dataset.train.image(count + 5)[7], std::byte{36});
    EXPECT_EQ(dataset.train.labels[count + 5], 2);
    EXPECT_TRUE(contains(check_data_file(list), "2 files"));

    test::write_file(list, "a.h5\nno_such.h5\n");
    EXPECT_TRUE(
        contains(refusal_of([&] { import(list, list); }), "line 2 names no file: no_such.h5"));
    test::write_file(list, "no_such.h5\n");
    EXPECT_TRUE(contains(refusal_of([&] { import(list, list); }), "line 1 names no file"));
    test::write_file(list, std::string("a.h5\nb\0c\n", 9));
    EXPECT_TRUE(contains(refusal_of([&] { import(list, list); }), "line 2 names no file"));
    write<std::uint8_t>("c.h5", {4, 4}, 3);
    test::write_file(list, "a.h5\nc.h5\n");
    EXPECT_TRUE(contains(refusal_of([&] { import(list, list); }), "another shape"));
    test::write_file(list, "a.h5\nout.h5\n");
    import(folder_ / "a.h5", folder_ / "b.h5");
    EXPECT_TRUE(contains(refusal_of([&] { check_data_file(list); }), "training and test data"));
}

TEST_F(ImportHdf5, ScaleDecidesWhatAnAmbiguousFileMeans) {
    const auto halves = write<float>("halves.h5", {8, 8}, 0.5);  // 0 … 37
    EXPECT_TRUE(contains(refusal_of([&] { import(halves, halves); }), "--scale"));
    const auto scaled = import(halves, halves, {.scale = Scale::max_255});
    EXPECT_EQ(scaled.pixel_type, PixelType::float32);
    EXPECT_FLOAT_EQ(float_at(scaled.train, 2, 5), 3.5F / 255);

    const auto centred = write<float>("centred.h5", {8, 8}, 0.125, -4);
    EXPECT_TRUE(contains(refusal_of([&] { import(centred, centred, {.scale = Scale::max_1}); }),
                         "do not fit --scale 1"));
    const auto kept = import(centred, centred, {.scale = Scale::none});
    EXPECT_EQ(float_at(kept.train, 2, 5), -4 + 7 * 0.125F);
    EXPECT_NEAR(kept.scale[0], 1 / kept.deviation[0], 1e-6);

    const auto bits = write<std::uint8_t>("bits.h5", {2, 2}, 0.25);  // 0 … 3
    EXPECT_TRUE(contains(refusal_of([&] { import(bits, bits, {.scale = Scale::max_1}); }),
                         "do not fit --scale 1"));
    const auto dark = write<std::uint8_t>("dark.h5", {2, 2}, 0.125);  // 0 or 1
    EXPECT_EQ(import(dark, dark, {.scale = Scale::max_255}).train.image(11)[3], std::byte{1});
    EXPECT_EQ(import(dark, dark, {.scale = Scale::max_1}).train.image(11)[3], std::byte{255});
}

TEST_F(ImportHdf5, AxesDecideWhatAnAmbiguousShapeMeans) {
    const auto both = write<std::uint8_t>("both.h5", {3, 4, 3}, 1);
    EXPECT_TRUE(contains(refusal_of([&] { import(both, both); }), "--axes"));
    const auto first = import(both, both, {.axes = "nchw"});
    EXPECT_EQ(first.shape, (ImageShape{3, 4, 3}));
    EXPECT_EQ(first.train.image(0)[1], std::byte{1});
    const auto last = import(both, both, {.axes = "nhwc"});
    EXPECT_EQ(last.shape, (ImageShape{3, 3, 4}));
    EXPECT_EQ(last.train.image(0)[1], std::byte{3});   // the next pixel of the same channel
    EXPECT_EQ(last.train.image(0)[12], std::byte{1});  // the next channel

    const auto oblong = write<std::uint8_t>("oblong.h5", {4, 6}, 1);
    EXPECT_TRUE(contains(refusal_of([&] { import(oblong, oblong); }), "4 x 6 are not square"));
    EXPECT_EQ(import(oblong, oblong, {.axes = "nchw"}).shape, (ImageShape{1, 4, 6}));

    const auto flat = write<std::uint8_t>("flat.h5", {48}, 1);
    EXPECT_EQ(import(flat, flat).train.image(0)[1], std::byte{1});
    EXPECT_EQ(import(flat, flat, {.axes = "nhwc"}).train.image(0)[1], std::byte{3});
}

TEST_F(ImportHdf5, NamesBaseAndClassesCanBeGiven) {
    const auto file = write<std::uint8_t>("named.h5", {8, 8}, 2, 0, "pictures", "kinds", 1);
    EXPECT_TRUE(contains(refusal_of([&] { import(file, file); }), "pictures"));
    Interpretation named{.images = "pictures", .labels = "/kinds"};
    EXPECT_TRUE(contains(refusal_of([&] { import(file, file, named); }), "--label-base 1"));
    named.label_base = 1;
    const auto dataset = import(file, file, named);
    EXPECT_EQ(dataset.classes, 3);
    EXPECT_EQ(dataset.train.labels[1], 1);
    named.classes = 7;
    EXPECT_EQ(import(file, file, named).classes, 7);
    named.classes = 2;
    EXPECT_TRUE(contains(refusal_of([&] { import(file, file, named); }), "label 2 of 2 classes"));
    named.labels.clear();
    EXPECT_TRUE(contains(refusal_of([&] { import(file, file, named); }), "belong together"));
}

}  // namespace
}  // namespace wasp
