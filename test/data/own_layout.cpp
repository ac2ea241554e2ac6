// Our own layout: what it promises, every fault in it, and damage of its bytes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "data/dataset.hpp"
#include "data/import.hpp"
#include "data/inspect.hpp"
#include "h5/atomic_file.hpp"
#include "h5/writer.hpp"
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

/// What a file of our layout holds; tests make one part of it wrong.
struct Parts {
    std::optional<std::int64_t> version = 1, classes = 3;
    std::vector<double> mean{0.5, 0.25}, deviation{0.2, 0.1};
    std::optional<std::string> digest = std::string(64, '0');
    h5::Shape train{9, 2, 4, 5}, tests{3, 2, 4, 5};
    std::vector<std::uint8_t> train_labels{0, 1, 2, 0, 1, 2, 0, 1, 2}, test_labels{0, 1, 2};
    bool has_test = true, as_int32 = false;
};

std::size_t product(const h5::Shape& shape) {
    std::size_t all = 1;
    for (const std::size_t side : shape) all *= side;
    return all;
}

void write_split(h5::Writer& writer, const std::string& group, const Parts& parts,
                 const h5::Shape& shape, const std::vector<std::uint8_t>& labels) {
    writer.group(group);
    if (parts.as_int32)
        writer.dataset(group + "/images", std::vector<std::int32_t>(product(shape), 7), shape);
    else
        writer.dataset(group + "/images", std::vector<std::uint8_t>(product(shape), 7), shape);
    writer.dataset(group + "/labels", labels, {labels.size()});
    if (!parts.digest) return;
    writer.text(group + "/images", "sha256", *parts.digest);
    writer.text(group + "/labels", "sha256", *parts.digest);
}

void write(const fs::path& path, const Parts& parts) {
    h5::Writer writer;
    if (parts.version) writer.attribute("/", "format_version", *parts.version);
    if (parts.classes) writer.attribute("/", "classes", *parts.classes);
    writer.text("/", "name", "parts");
    writer.attribute("/", "mean", parts.mean);
    writer.attribute("/", "std", parts.deviation);
    write_split(writer, "/train", parts, parts.train, parts.train_labels);
    if (parts.has_test) write_split(writer, "/test", parts, parts.tests, parts.test_labels);
    h5::replace_file(path, writer.finish());
}

class OwnLayout : public testing::Test {
protected:
    test::Scratch folder_;
    const fs::path file_ = folder_ / "own.h5";
};

TEST_F(OwnLayout, NormalisationIsThatOfTheFile) {
    write(file_, {});
    const auto dataset = load(file_);
    EXPECT_EQ(dataset.name, "parts");
    EXPECT_EQ(dataset.layout, "wasp");
    EXPECT_EQ(dataset.shape, (ImageShape{2, 4, 5}));
    EXPECT_EQ(dataset.mean, (std::vector<float>{0.5F, 0.25F}));
    EXPECT_FLOAT_EQ(dataset.scale[0], 1 / (255 * 0.2F));
    EXPECT_FLOAT_EQ(dataset.shift[1], -0.25F / 0.1F);
}

TEST_F(OwnLayout, EveryFaultIsRefusedWithItsPlace) {
    const struct {
        const char* message;
        std::function<void(Parts&)> spoil;
    } kinds[]{
        {"format_version", [](Parts& parts) { parts.version = 2; }},
        {"classes", [](Parts& parts) { parts.classes.reset(); }},
        {"classes", [](Parts& parts) { parts.classes = 0; }},
        {"classes", [](Parts& parts) { parts.classes = -3; }},
        {"classes", [](Parts& parts) { parts.classes = std::int64_t{1} << 40U; }},
        {"/train/labels[2]: label 2 of 2 classes", [](Parts& parts) { parts.classes = 2; }},
        {"'mean'", [](Parts& parts) { parts.mean.pop_back(); }},
        {"'mean'", [](Parts& parts) { parts.mean[1] = NAN; }},
        {"'std'", [](Parts& parts) { parts.deviation[1] = -1; }},
        {"'std'", [](Parts& parts) { parts.deviation[1] = INFINITY; }},
        {"'sha256'", [](Parts& parts) { parts.digest.reset(); }},
        {"/test: does not exist", [](Parts& parts) { parts.has_test = false; }},
        {"another shape",
         [](Parts& parts) {
             parts.tests = {3, 1, 4, 5};
         }},
        {"expected uint8 or float32", [](Parts& parts) { parts.as_int32 = true; }},
        {"9 images, but 8 labels", [](Parts& parts) { parts.train_labels.pop_back(); }},
        {"/test/labels[1]: label 77", [](Parts& parts) { parts.test_labels[1] = 77; }},
        {"17 x",
         [](Parts& parts) {
             parts.train = parts.tests = {3, 17, 4, 5};
         }},
    };
    for (const auto& [message, spoil] : kinds) {
        SCOPED_TRACE(message);
        Parts parts;
        spoil(parts);
        if (parts.train[0] == 3) parts.train_labels.resize(3);
        write(file_, parts);
        const auto refusal = refusal_of([&] { load(file_); });
        EXPECT_TRUE(contains(refusal, file_.string())) << refusal;
        EXPECT_TRUE(contains(refusal, message)) << refusal;
    }
}

TEST_F(OwnLayout, ChecksumsAreThoseOfHashlibForEveryLength) {
    for (const std::size_t length : {1U, 54U, 55U, 56U, 57U, 63U, 64U, 65U, 119U, 120U, 128U}) {
        SCOPED_TRACE(length);  // labels are one byte each: around the blocks of SHA-256
        fs::remove(file_);
        synthesise({.classes = 2, .shape = {1, 3, 3}, .train = length, .test = 1}, file_);
        const auto seen =
            test::output_of(test::options.python + " test/data/read_own.py " + file_.string());
        EXPECT_FALSE(contains(seen, "stored=other")) << seen;
        EXPECT_TRUE(contains(check_data_file(file_), "sound"));
    }
}

TEST_F(OwnLayout, CheckFindsWhatTheChecksumsOfHdf5Cannot) {
    write(file_, {});  // whose sha256 are made up
    load(file_);
    EXPECT_TRUE(contains(refusal_of([&] { check_data_file(file_); }), "sha256"));
}

TEST_F(OwnLayout, IsCheckedAsWhatItIsWhateverItsName) {
    for (const char* name : {"train-images-idx3-ubyte.h5", "batch.bin", "noname"}) {
        synthesise({.classes = 2, .shape = {1, 4, 4}, .train = 8, .test = 4}, folder_ / name);
        EXPECT_TRUE(contains(check_data_file(folder_ / name), "layout 'wasp'")) << name;
    }
}

TEST_F(OwnLayout, AChangedPixelIsFoundWhenLoading) {
    synthesise({.classes = 2, .shape = {1, 8, 8}, .train = 40, .test = 10}, file_);
    const auto dataset = load(file_);
    const std::string pixels(reinterpret_cast<const char*>(dataset.train.image(20)), 64);
    auto bytes = test::read_file(file_);
    const auto at = bytes.find(pixels);
    ASSERT_NE(at, std::string::npos);
    bytes[at + 30] ^= 1;
    test::write_file(file_, bytes);
    const auto refusal = refusal_of([&] { load(file_); });
    EXPECT_TRUE(contains(refusal, "/train/images: damaged")) << refusal;
}

TEST_F(OwnLayout, EveryCutFileIsRefused) {
    synthesise({.classes = 2, .shape = {1, 4, 4}, .train = 12, .test = 6}, file_);
    const auto bytes = test::read_file(file_);
    const auto cut = folder_ / "cut.h5";
    for (std::size_t length = 0; length < bytes.size(); length += length < 600 ? 37 : 911) {
        SCOPED_TRACE(length);
        test::write_file(cut, bytes.substr(0, length));
        refusal_of([&] { check_data_file(cut); });
    }
    test::write_file(cut, bytes.substr(0, bytes.size() - 1));
    refusal_of([&] { check_data_file(cut); });
}

TEST_F(OwnLayout, RandomDamageIsRefusedOrHarmless) {
    synthesise({.classes = 3, .shape = {1, 4, 4}, .train = 12, .test = 6}, file_);
    const auto sound = test::read_file(file_);
    const auto damaged = folder_ / "damaged.h5";
    int refused = 0;
    constexpr int tries = 400;
    for (int seed = 0; seed < tries; ++seed) {
        SCOPED_TRACE(seed);
        RandomStream random(static_cast<std::uint64_t>(seed), "damage");
        auto bytes = sound;
        for (std::uint64_t count = 1 + random.below(4); count > 0; --count)
            bytes[random.below(bytes.size())] = static_cast<char>(random());
        test::write_file(damaged, bytes);
        try {
            check_data_file(damaged);  // harmless where nothing uses the byte
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::usage) << error.what();
            ++refused;
        }
    }
    EXPECT_GT(refused, tries / 10);
}

}  // namespace
}  // namespace wasp
