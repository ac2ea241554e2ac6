// What is written is what the checked reader and h5py find.
#include "h5/writer.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "h5/atomic_file.hpp"
#include "h5/reader.hpp"
#include "support/options.hpp"
#include "support/output_of.hpp"
#include "support/scratch.hpp"

namespace wasp {
namespace {

using h5::Shape;
using h5::Writer;

template <class T>
class WriterOfNumbers : public testing::Test {};
using Numbers =
    testing::Types<std::uint8_t, std::uint16_t, std::int32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(WriterOfNumbers, Numbers);

TYPED_TEST(WriterOfNumbers, KeepsTypeShapeAndValues) {
    using Limits = std::numeric_limits<TypeParam>;
    const bool whole =
        Limits::is_integer && sizeof(TypeParam) == 8;  // doubles hold 53 bits of them
    const std::vector<TypeParam> values{whole ? -5 : Limits::lowest(), 0, 1, 2, 3,
                                        whole ? 7 : Limits::max()};
    const test::Scratch folder;
    Writer writer;
    writer.dataset("/contiguous", values, {2, 3});
    writer.dataset("/chunked", values, {2, 3}, {.chunk = {1, 2}, .deflate = 1});
    writer.dataset("/empty", std::vector<TypeParam>{}, {0, 3});
    h5::replace_file(folder / "file.h5", writer.finish());

    const h5::File file(folder / "file.h5");
    const std::vector<double> expected(values.begin(), values.end());
    for (const auto* name : {"/contiguous", "/chunked"}) {
        const auto array = file.array(name);
        EXPECT_EQ(array.shape(), (Shape{2, 3}));
        EXPECT_EQ(array.element().bytes, sizeof(TypeParam));
        EXPECT_EQ(array.element().is_signed, Limits::is_signed);
        EXPECT_FALSE(array.element().big_endian);
        EXPECT_EQ(array.doubles(), expected) << name;
    }
    EXPECT_EQ(file.array("/empty").shape(), (Shape{0, 3}));
}

TEST(Writer, ChunksWhatIsLargeWithChecksums) {
    for (const auto& shape : {Shape{3, 5}, Shape{100'000}, Shape{70'000, 3}, Shape{2, 500'000}}) {
        const auto storage = h5::suitable_storage(shape, 8);
        std::size_t all = 8, chunk = 8;
        for (std::size_t i = 0; i < shape.size(); ++i) {
            all *= shape[i];
            if (storage.chunk.empty()) continue;
            chunk *= storage.chunk[i];
            EXPECT_LE(storage.chunk[i], shape[i]);
        }
        EXPECT_EQ(storage.chunk.empty(), all <= 65'536);
        EXPECT_LE(chunk, 65'536U);
    }
}

TEST(Writer, KeepsAttributes) {
    const test::Scratch folder;
    Writer writer;
    writer.group("/g");
    writer.attribute("/g", "yes", true);
    writer.attribute("/g", "whole", std::numeric_limits<std::int64_t>::min());
    writer.attribute("/g", "real", 0.1);
    writer.attribute("/g", "text", "café");
    writer.attribute("/g", "long", std::string(100'000, 'x'));
    writer.attribute("/g", "nothing", "");
    writer.attribute("/g", "list", std::vector<double>{1, 2.5});
    h5::replace_file(folder / "file.h5", writer.finish());

    const auto read = h5::File(folder / "file.h5").attributes("/g");
    EXPECT_EQ(read.size(), 7U);
    EXPECT_EQ(std::get<bool>(read.at("yes")), true);
    EXPECT_EQ(std::get<std::int64_t>(read.at("whole")), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(std::get<double>(read.at("real")), 0.1);
    EXPECT_EQ(std::get<std::string>(read.at("text")), "café");
    EXPECT_EQ(std::get<std::string>(read.at("long")), std::string(100'000, 'x'));
    EXPECT_EQ(std::get<std::string>(read.at("nothing")), "");
    EXPECT_EQ(std::get<std::vector<double>>(read.at("list")), (std::vector<double>{1, 2.5}));
}

TEST(Writer, GivesH5pyWhatItsUsersExpect) {
    const test::Scratch folder;
    Writer writer;
    writer.attribute("/", "text", "café");
    writer.attribute("/", "yes", true);
    writer.attribute("/", "whole", std::int64_t{3});
    writer.dataset("/names", std::vector<std::string>{"a", "", "long"});
    writer.dataset("/x", std::vector<double>{1, 2, 3}, {3});
    writer.dataset("/y", std::vector<float>{4, 5, 6}, {3});
    writer.attach_scale("/y", 0, "/x", "time");
    h5::replace_file(folder / "file.h5", writer.finish());
    EXPECT_EQ(test::output_of(
                  test::options.python +
                  " -c \"import h5py, sys; f = h5py.File(sys.argv[1]); a = f.attrs; y = f['y'];"
                  "print(a['text'] == 'caf\\u00e9', bool(a['yes']),"
                  "a['whole'] + 1, list(f['names'].asstr()), y.dims[0].label, y.dims[0][0][1])\" " +
                  (folder / "file.h5").string()),
              "True True 4 ['a', '', 'long'] time 2.0\n");
}

TEST(Writer, IsTheSameBytesEachTime) {
    const auto make = [] {
        Writer writer;
        writer.group("/g");
        writer.attribute("/g", "text", "x");
        std::vector<float> values(100'000);
        std::iota(values.begin(), values.end(), 0.0F);
        writer.dataset("/g/values", values, {100, 1000}, h5::suitable_storage({100, 1000}, 4));
        const auto bytes = writer.finish();
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    };
    EXPECT_EQ(make(), make());
}

TEST(Writer, TellsWhatItCannotDo) {
    Writer writer;
    EXPECT_THROW(writer.group("/missing/g"), Error);
    EXPECT_THROW(writer.attribute("/missing", "a", 1.0), Error);
    EXPECT_THROW(writer.dataset("/a", std::vector<float>(5), {2, 3}), Error);
    writer.dataset("/a", std::vector<float>(6), {2, 3});
    EXPECT_THROW(writer.dataset("/a", std::vector<float>(6), {2, 3}), Error);
    EXPECT_GT(writer.finish().size(), 0U);
}

}  // namespace
}  // namespace wasp
