// Importers: what goes in comes out, seen by h5py; and what is damaged is refused.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

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

namespace fs = std::filesystem;
using test::contains;
using test::load;
using test::refusal_of;

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string big_endian(std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xffU);
    return bytes;
}

std::string idx_header(std::initializer_list<std::uint32_t> sides) {
    std::string bytes{'\0', '\0', '\x08', static_cast<char>(sides.size())};
    for (const auto side : sides) bytes += big_endian(side);
    return bytes;
}

/// Bytes that differ from image to image and pixel to pixel.
std::string pixels(std::size_t count, std::size_t salt) {
    std::string bytes;
    for (std::size_t i = 0; i < count; ++i)
        bytes += static_cast<char>((i * 31 + i / 7 + salt) % 256);
    return bytes;
}

std::string labels(std::size_t count, std::size_t classes) {
    std::string bytes;
    for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(i * 7 % classes);
    return bytes;
}

std::string gzipped(const std::string& bytes) {
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

class Idx : public testing::Test {
protected:
    static constexpr std::uint32_t train = 30, tests = 12, high = 9, wide = 7;

    Idx() {
        write(0, images_bytes_);
        write(1, idx_header({train}) + labels(train, 10));
        write(2, idx_header({tests, high, wide}) + pixels(std::size_t{tests} * high * wide, 5));
        write(3, idx_header({tests}) + labels(tests, 10));
    }
    void write(std::size_t which, const std::string& bytes, const std::string& ending = "") {
        for (const char* other : {"", ".gz"}) fs::remove(folder_ / (names[which] + other));
        test::write_file(folder_ / (names[which] + ending), bytes);
    }
    std::string import() { return import_idx(idx_files_in(folder_.path()), out_); }
    std::string refusal() {
        const auto message = refusal_of([this] { import(); });
        EXPECT_FALSE(fs::exists(out_));
        return message;
    }

    const std::vector<std::string> names{"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                         "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
    test::Scratch folder_;
    const fs::path out_ = folder_ / "mine.h5";
    const std::string images_bytes_ =
        idx_header({train, high, wide}) + pixels(std::size_t{train} * high * wide, 0);
};

TEST_F(Idx, ComesOutAsItWentIn) {
    write(1, gzipped(idx_header({train}) + labels(train, 10)), ".gz");
    write(2, gzipped(test::read_file(folder_ / names[2])));  // by content, not by name
    const auto summary = import();
    EXPECT_TRUE(contains(summary, "30 + 12 images (1,9,7), 10 classes")) << summary;
    const auto dataset = load(out_);
    EXPECT_EQ(dataset.shape, (ImageShape{1, 9, 7}));
    EXPECT_EQ(dataset.classes, 10);
    EXPECT_EQ(dataset.name, "mine");
    EXPECT_EQ(dataset.layout, "wasp");
    EXPECT_EQ(text_of(dataset.train.images), pixels(train * 63, 0));
    EXPECT_EQ(text_of(dataset.test.images), pixels(tests * 63, 5));
    for (std::size_t i = 0; i < train; ++i) EXPECT_EQ(dataset.train.labels[i], i * 7 % 10);
    EXPECT_TRUE(contains(check_data_file(out_), "sound"));
}

TEST_F(Idx, IsReadByH5pyWithTheChecksumsOfHashlib) {
    import();
    const auto seen =
        test::output_of(test::options.python + " test/data/read_own.py " + out_.string());
    EXPECT_TRUE(contains(seen, "format_version=1\nname=mine\nclasses=10\n")) << seen;
    EXPECT_TRUE(contains(seen, "train/images uint8 (30, 1, 9, 7) ")) << seen;
    EXPECT_TRUE(contains(seen, "test/labels uint8 (12,) ")) << seen;
    EXPECT_FALSE(contains(seen, "stored=other")) << seen;
    EXPECT_FALSE(contains(seen, "checksum=False")) << seen;
    EXPECT_FALSE(contains(seen, "whole=False")) << seen;
    EXPECT_TRUE(contains(seen, load(out_).sha256)) << seen;
}

TEST_F(Idx, DamagedFilesAreRefusedAndNothingIsWritten) {
    const auto& sound = images_bytes_;
    const auto packed = gzipped(sound);
    auto wrong_sum = packed;
    wrong_sum[wrong_sum.size() - 6] ^= 1;
    auto flipped = packed;
    flipped[flipped.size() / 2] ^= 0x10;
    const auto swapped = std::string("\x03\x08\0\0", 4) + sound.substr(4);
    const auto floats = std::string("\0\0\x0d\x03", 4) + sound.substr(4);
    const struct {
        const char* what;
        std::string bytes, message;
    } kinds[]{
        {"empty", "", "is empty"},
        {"two bytes", sound.substr(0, 2), "ends too early"},
        {"header alone", sound.substr(0, 16), "more than its bytes can hold"},
        {"one byte short", sound.substr(0, sound.size() - 1), "ends too early"},
        {"one byte long", sound + "x", "holds more bytes than it declares"},
        {"little-endian", swapped, "is not an IDX file"},
        {"another magic", std::string("\0\0\x08\x04", 4) + sound.substr(4), "4 dimensions"},
        {"floats", floats, "type 0x0d"},
        {"labels", idx_header({train}) + labels(train, 10), "expected images"},
        {"huge count", idx_header({0xffffffff, high, wide}) + sound.substr(16), "can hold"},
        {"huge side", idx_header({1, 0xffffffff, 0xffffffff}), "dimension of 4294967295"},
        {"no images", idx_header({0, high, wide}), "dimension of 0"},
        {"fewer images", idx_header({29, high, wide}) + pixels(29 * 63, 0), "but 30 labels"},
        {"gz cut", packed.substr(0, packed.size() - 20), "ends too early"},
        {"gz without end", packed.substr(0, packed.size() - 4), "ends too early"},
        {"gz wrong checksum", wrong_sum, "damaged"},
        {"gz flipped bit", flipped, ""},
        {"gz short", gzipped(sound.substr(0, sound.size() - 1)), "ends too early"},
        {"gz long", gzipped(sound + "x"), "more bytes than it declares"},
        {"gz bomb", gzipped(sound + std::string(1U << 24U, '\0')), "more bytes than it declares"},
        {"gz huge count", gzipped(idx_header({0xffffffff, high, wide})), "can hold"},
        {"gz of no IDX", gzipped("hello, hello"), "is not an IDX file"},
        {"web page", "<!DOCTYPE html><html></html>", "web page"},
        {"web page in gz", gzipped("<html><body>404</body></html>"), "web page"},
        {"LFS pointer", "version https://git-lfs.github.com/spec/v1\n", "git lfs pull"},
        {"HDF5", "\x89HDF\r\n\x1a\n", "import hdf5"},
        {"pickle", "\x80\x03}q and so on", "pickle"},
    };
    for (const auto& [what, bytes, message] : kinds) {
        SCOPED_TRACE(what);
        write(0, bytes);
        const auto refused = refusal();
        EXPECT_TRUE(contains(refused, message)) << refused;
        EXPECT_TRUE(contains(refused, names[0])) << refused;
    }
}

TEST_F(Idx, GzipOfTwoMembersAndBytesAfterTheEndAreFine) {
    write(0, gzipped(images_bytes_.substr(0, 500)) + gzipped(images_bytes_.substr(500)));
    import();
    fs::remove(out_);
    write(0, gzipped(images_bytes_) + std::string(100, 'x'));
    import();
    EXPECT_EQ(text_of(load(out_).train.images), pixels(train * 63, 0));
}

TEST_F(Idx, FilesThatDoNotBelongTogetherAreRefused) {
    write(2, idx_header({tests, 8, wide}) + pixels(std::size_t{tests} * 8 * wide, 5));
    EXPECT_TRUE(contains(refusal(), "9 x 7"));
    write(2, idx_header({tests, high, wide}) + pixels(std::size_t{tests} * high * wide, 5));
    write(3, idx_header({tests}) + labels(tests, 12));
    EXPECT_TRUE(contains(refusal(), "the training labels end at 9"));
    fs::remove(folder_ / names[3]);
    EXPECT_TRUE(contains(refusal(), "holds no t10k-labels-idx1-ubyte"));
}

TEST_F(Idx, AnExistingFileIsNotTouched) {
    test::write_file(out_, "mine");
    EXPECT_TRUE(contains(refusal_of([this] { import(); }), "exists"));
    EXPECT_EQ(test::read_file(out_), "mine");
    EXPECT_TRUE(contains(
        refusal_of([this] { import_idx(idx_files_in(folder_.path()), folder_ / "no" / "x.h5"); }),
        "no"));
}

TEST_F(Idx, IsCheckedFileByFile) {
    EXPECT_TRUE(contains(check_data_file(folder_ / names[0]), "IDX images of shape (30,9,7)"));
    EXPECT_TRUE(contains(check_data_file(folder_ / names[1]), "IDX labels of shape (30)"));
    test::write_file(folder_ / "renamed", gzipped(images_bytes_));
    EXPECT_TRUE(contains(check_data_file(folder_ / "renamed"), "IDX images"));
    test::write_file(folder_ / "renamed", images_bytes_.substr(0, 100));
    EXPECT_TRUE(contains(refusal_of([&] { check_data_file(folder_ / "renamed"); }), "hold"));
}

class Cifar : public testing::Test {
protected:
    static std::string records(std::size_t count,
                               const std::function<std::string(std::size_t)>& label,
                               std::size_t salt) {
        std::string bytes;
        for (std::size_t i = 0; i < count; ++i) bytes += label(i) + pixels(3072, salt + i);
        return bytes;
    }
    static std::string ten(std::size_t i) { return {static_cast<char>(i % 10)}; }
    static std::string hundred(std::size_t i) {
        return {static_cast<char>(i % 20), static_cast<char>(i % 100)};
    }
    void write(const std::string& name, const std::string& bytes) {
        test::write_file(folder_ / name, bytes);
    }
    void write_cifar10() {
        for (std::size_t i = 1; i <= 5; ++i)
            write("data_batch_" + std::to_string(i) + ".bin", records(10, ten, 100 * i));
        write("test_batch.bin", records(4, ten, 900));
    }
    test::Scratch folder_;
    const fs::path out_ = folder_ / "cifar.h5";
};

TEST_F(Cifar, TenComesOutAsItWentIn) {
    write_cifar10();
    EXPECT_TRUE(contains(import_cifar10(folder_.path(), out_), "50 + 4 images (3,32,32)"));
    const auto dataset = load(out_);
    EXPECT_EQ(dataset.classes, 10);
    for (std::size_t i = 0; i < 50; ++i) {
        EXPECT_EQ(dataset.train.labels[i], i % 10);
        EXPECT_EQ(text_of({dataset.train.image(i), 3072}),
                  pixels(3072, 100 * (i / 10 + 1) + i % 10));
    }
    EXPECT_EQ(text_of({dataset.test.image(3), 3072}), pixels(3072, 903));
}

TEST_F(Cifar, HundredTakesTheFineLabels) {
    write("train.bin", records(120, hundred, 0));
    write("test.bin", records(30, hundred, 500));
    import_cifar100(folder_.path(), out_);
    const auto dataset = load(out_);
    EXPECT_EQ(dataset.classes, 100);
    EXPECT_EQ(dataset.train.labels[57], 57);
    EXPECT_EQ(text_of({dataset.train.image(57), 3072}), pixels(3072, 57));
}

TEST_F(Cifar, DamagedFilesAreRefusedAndNothingIsWritten) {
    const auto sound = records(10, ten, 7);
    const struct {
        const char* what;
        std::string bytes, message;
    } kinds[]{
        {"empty", "", "is empty"},
        {"cut off", sound.substr(0, sound.size() - 1000),
         "9 records of 3073 bytes (CIFAR-10), and 2073"},
        {"one byte more", sound + "x", "10 records of 3073 bytes (CIFAR-10), and 1 bytes more"},
        {"a byte lost", sound.substr(1) + "x", "a byte is missing in front"},
        {"a byte added", std::string("x").append(sound, 0, sound.size() - 1), "a byte too many"},
        {"a bad label", std::string(1, '\x0a') + sound.substr(1), "record 0: label 10"},
        {"CIFAR-100", records(10, hundred, 7), "CIFAR-100's, not CIFAR-10's"},
        {"pickle",
         "\x80\x02}q\x01(U\x04"
         "data",
         "pickle"},
        {"tar", std::string(257, 'a') + "ustar" + std::string(3073 - 262, 'a'), "tar archive"},
        {"gzip", gzipped(sound), "gunzip"},
        {"web page", "<!DOCTYPE html><html></html>", "web page"},
        {"LFS pointer", "version https://git-lfs.github.com/spec/v1\n", "git lfs pull"},
        {"HDF5", "\x89HDF\r\n\x1a\n", "import hdf5"},
    };
    for (const auto& [what, bytes, message] : kinds) {
        SCOPED_TRACE(what);
        write_cifar10();
        write("data_batch_4.bin", bytes);
        const auto refused = refusal_of([&] { import_cifar10(folder_.path(), out_); });
        EXPECT_TRUE(contains(refused, message)) << refused;
        EXPECT_TRUE(contains(refused, "data_batch_4.bin")) << refused;
        EXPECT_FALSE(fs::exists(out_));
    }
    fs::remove(folder_ / "data_batch_4.bin");
    EXPECT_TRUE(
        contains(refusal_of([&] { import_cifar10(folder_.path(), out_); }), "no such file"));
}

TEST_F(Cifar, IsCheckedFileByFile) {
    write_cifar10();
    write("train.bin", records(120, hundred, 0));
    EXPECT_TRUE(contains(check_data_file(folder_ / "test_batch.bin"), "CIFAR-10 binary, 4 images"));
    EXPECT_TRUE(contains(check_data_file(folder_ / "train.bin"), "CIFAR-100 binary, 120 images"));
}

class Synth : public testing::Test {
protected:
    Dataset make(const SynthSetup& setup, const std::string& name) {
        synthesise(setup, folder_ / name);
        return load(folder_ / name);
    }
    test::Scratch folder_;
};

TEST_F(Synth, IsTheSameForTheSameSeedAlone) {
    const SynthSetup setup{.train = 50, .test = 20, .seed = 3};
    auto other = setup;
    other.seed = 4;
    const auto first = make(setup, "a.h5");
    const auto again = make(setup, "b.h5");
    EXPECT_TRUE(std::ranges::equal(first.train.images, again.train.images));
    EXPECT_TRUE(std::ranges::equal(first.test.labels, again.test.labels));
    EXPECT_NE(make(other, "c.h5").sha256, first.sha256);
    EXPECT_FALSE(std::ranges::equal(first.train.images.first(784 * 20), first.test.images));
}

/// The class whose mean training image is nearest.
int nearest_mean(const std::vector<std::vector<double>>& means, const std::byte* image) {
    int best = 0;
    double least = 1e300;
    for (std::size_t label = 0; label < means.size(); ++label) {
        double distance = 0;
        for (std::size_t k = 0; k < means[label].size(); ++k) {
            const double difference = means[label][k] - std::to_integer<int>(image[k]);
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            best = static_cast<int>(label);
        }
    }
    return best;
}

TEST_F(Synth, CanBeLearned) {
    const auto dataset =
        make({.classes = 10, .shape = {3, 16, 16}, .train = 400, .test = 200, .seed = 2}, "a.h5");
    std::vector<std::vector<double>> means(10, std::vector<double>(dataset.shape.pixels()));
    std::vector<int> counts(10);
    for (std::size_t i = 0; i < dataset.train.size(); ++i) {
        ++counts[dataset.train.labels[i]];
        for (std::size_t k = 0; k < dataset.shape.pixels(); ++k)
            means[dataset.train.labels[i]][k] += std::to_integer<int>(dataset.train.image(i)[k]);
    }
    for (std::size_t label = 0; label < 10; ++label) {
        EXPECT_EQ(counts[label], 40);  // balanced
        for (auto& value : means[label]) value /= counts[label];
    }
    int right = 0;
    for (std::size_t i = 0; i < dataset.test.size(); ++i)
        if (nearest_mean(means, dataset.test.image(i)) == dataset.test.labels[i]) ++right;
    EXPECT_GT(right, 180);
}

TEST_F(Synth, AnyShapeWorksAndImpossibleOnesAreRefused) {
    const auto odd = make({.classes = 300, .shape = {2, 5, 11}, .train = 600, .test = 300}, "a.h5");
    EXPECT_EQ(odd.shape, (ImageShape{2, 5, 11}));
    EXPECT_EQ(odd.classes, 300);
    EXPECT_EQ(*std::ranges::max_element(odd.train.labels), 299);
    for (const SynthSetup& setup :
         {SynthSetup{.classes = 1}, SynthSetup{.shape = {0, 28, 28}}, SynthSetup{.train = 0},
          SynthSetup{.test = 0}, SynthSetup{.shape = {1, 1 << 20, 1}},
          SynthSetup{.classes = 100'000}, SynthSetup{.train = std::size_t{1} << 60U}})
        refusal_of([&] { synthesise(setup, folder_ / "b.h5"); });
    EXPECT_FALSE(fs::exists(folder_ / "b.h5"));
}

TEST(FashionMnist, OfDebianImportsToTheKnownPixels) {
    const fs::path folder = "/usr/share/datasets/fashion-mnist";
    if (!fs::exists(folder)) GTEST_SKIP() << "the package dataset-fashion-mnist is not installed";
    const test::Scratch scratch;
    import_idx(idx_files_in(folder), scratch / "fashion-mnist.h5");
    const auto dataset = load(scratch / "fashion-mnist.h5");
    EXPECT_EQ(dataset.train.size(), 60'000U);
    EXPECT_EQ(dataset.test.size(), 10'000U);
    // zcat train-images-idx3-ubyte.gz | tail -c +17 | sha256sum
    EXPECT_EQ(dataset.sha256, "2e487a6c89124f78f2d7521542223cafe96f7123c3ca13d447772ac6ecbb3012");
    EXPECT_NEAR(dataset.mean[0], 0.2860, 5e-5);
    EXPECT_NEAR(dataset.deviation[0], 0.3530, 5e-5);
    for (int label = 0; label < 10; ++label)
        EXPECT_EQ(std::ranges::count(dataset.train.labels, label), 6000);
    const auto info = dataset_info(scratch / "fashion-mnist.h5");
    EXPECT_TRUE(contains(info, "60000 training + 10000 test, (1,28,28) uint8")) << info;
    EXPECT_TRUE(contains(info, "█")) << info;
}

}  // namespace
}  // namespace wasp
