// Files of other programs, and unsound ones, that are not part of the project (tests
// --samples=FOLDER): what their INDEX.tsv expects of a good loader is what they get.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "data/import.hpp"
#include "support/files.hpp"
#include "support/wasp_program.hpp"

namespace wasp {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::refusal_of;

#ifdef __SANITIZE_ADDRESS__
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

class Samples : public testing::Test {
protected:
    void SetUp() override {
        if (test::options.samples.empty()) GTEST_SKIP() << "no --samples=FOLDER";
    }
    static fs::path folder(const std::string& name) {
        return fs::path(test::options.samples) / name;
    }
};

TEST_F(Samples, AreReadAsH5pyReadsThemOrRefused) {
    constexpr double limit_seconds = 300;
    test::Words words{test::options.python, "test/data/compare_samples.py", test::options.wasp,
                      test::options.samples};
    if (sanitized) words.emplace_back("--sanitized");
    const auto outcome = test::run_command(words, limit_seconds);
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "0 deviations")) << outcome.out;
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
                         "CIFAR-100"));
    EXPECT_FALSE(fs::exists(scratch / "out.h5"));
}

}  // namespace
}  // namespace wasp
