// Files of other programs, and unsound ones, that are not part of the project (tests
// --samples=FOLDER): what their INDEX.tsv expects of a good loader is what they get.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "data/import.hpp"
#include "data/inspect.hpp"
#include "support/files.hpp"
#include "support/options.hpp"
#include "support/scratch.hpp"

namespace wasp {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::refusal_of;

struct Sample {
    std::string file, what, expected;
};

class Samples : public testing::Test {
protected:
    void SetUp() override {
        if (test::options.samples.empty()) GTEST_SKIP() << "no --samples=FOLDER";
    }
    static fs::path folder(const std::string& name) {
        return fs::path(test::options.samples) / name;
    }
};

std::vector<Sample> read_index(const fs::path& path) {
    std::ifstream index(path);
    std::vector<Sample> samples;
    std::string line;
    std::getline(index, line);  // headings
    while (std::getline(index, line)) {
        std::istringstream fields(line);
        std::array<std::string, 5> columns;
        for (auto& column : columns) std::getline(fields, column, '\t');
        samples.push_back({columns[0], columns[1], columns[4]});
    }
    return samples;
}

// What is wrong with these shows only beside other files.
bool needs_company(const std::string& file) {
    return file == "idx_label_count.idx1" || file == "cifar100_as_cifar10.bin";
}

TEST_F(Samples, HostileFilesGetTheTreatmentOfTheIndex) {
    const auto hostile = folder("hostile");
    int accepted = 0;
    int refused = 0;
    for (const auto& [file, what, expected] : read_index(hostile / "INDEX.tsv")) {
        if (needs_company(file)) continue;
        SCOPED_TRACE(file + ": " + expected);
        std::string answer;
        bool sound = true;
        try {
            answer = check_data_file(hostile / file);
        } catch (const Error& error) {
            answer = error.what();
            sound = false;
            EXPECT_EQ(error.code(), ExitCode::usage) << answer;
        }
        ++(sound ? accepted : refused);
        EXPECT_EQ(answer.find('\n'), std::string::npos) << answer;
        EXPECT_TRUE(contains(answer, file)) << answer;
        if (contains(expected, " or ")) continue;
        if (expected.starts_with("accept")) {
            EXPECT_TRUE(sound) << answer;
        } else {
            EXPECT_FALSE(sound) << answer;
        }
    }
    EXPECT_GE(accepted, 10);
    EXPECT_GE(refused, 60);
}

TEST_F(Samples, HostileFilesThatNeedCompanyAreRefusedInIt) {
    const auto hostile = folder("hostile");
    const test::Scratch scratch;
    const auto images = hostile / "gz_concat.idx3.gz";  // 64 of them
    const auto labels = hostile / "idx_label_count.idx1";
    EXPECT_TRUE(contains(refusal_of([&] {
                             import_idx({images, labels, images, labels}, scratch / "out.h5");
                         }),
                         "64 images, but 60 labels"));
    for (const char* name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                             "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"})
        fs::copy_file(hostile / "cifar100_as_cifar10.bin", scratch / name);
    EXPECT_TRUE(contains(refusal_of([&] { import_cifar10(scratch.path(), scratch / "out.h5"); }),
                         "record"));
    EXPECT_FALSE(fs::exists(scratch / "out.h5"));
}

TEST_F(Samples, LayoutsThatWeReadAreRecognisedAndTheOthersRefused) {
    const struct {
        const char *file, *layout;
    } known[]{
        {"keras_mnist.h5", "Keras"},
        {"keras_cifar10.h5", "Keras"},
        {"fuel_mnist.h5", "Fuel"},
        {"fuel_mnist_bool.h5", "Fuel"},
        {"fuel_cifar100.h5", "Fuel (fine labels)"},
        {"groups_train_test.h5", "groups train and test"},
        {"usps_style.h5", "groups train and test"},
        {"images_labels.h5", "images and labels, one split"},
        {"caffe_mnist_train.h5", "Caffe, one split"},
        {"caffe_mnist_test.h5", "Caffe, one split"},
        {"digits_0.h5", "Caffe, one split"},
        {"st_chunk1_gzip9.h5", "images and labels, one split"},
        {"st_chunk_split_image.h5", "images and labels, one split"},
        {"st_compact.h5", "images and labels, one split"},
        {"st_contiguous.h5", "images and labels, one split"},
        {"st_flat784.h5", "images and labels, one split"},
        {"st_label_enum.h5", "images and labels, one split"},
        {"st_libver_latest.h5", "images and labels, one split"},
        {"st_lzf.h5", "images and labels, one split"},
        {"st_n1hw.h5", "images and labels, one split"},
        {"st_nhw1.h5", "images and labels, one split"},
        {"st_scaleoffset.h5", "images and labels, one split"},
        {"st_szip.h5", "images and labels, one split"},
        {"st_userblock_1024.h5", "images and labels, one split"},
    };
    const auto layouts = folder("layouts");
    for (const auto& [file, layout] : known) {
        SCOPED_TRACE(file);
        EXPECT_TRUE(contains(check_data_file(layouts / file), fmt::format("'{}'", layout)));
    }
    for (const auto& entry : fs::directory_iterator(layouts)) {
        const auto name = entry.path().filename().string();
        const auto same = [&](const auto& row) { return name == row.file; };
        if (entry.path().extension() != ".h5" || std::ranges::any_of(known, same)) continue;
        SCOPED_TRACE(name);
        refusal_of([&] { check_data_file(entry.path()); });
    }
}

}  // namespace
}  // namespace wasp
