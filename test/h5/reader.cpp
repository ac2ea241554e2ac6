// The reader on files of h5py: parts of arrays whatever their storage, numbers of every kind,
// attributes; and what is no HDF5 file at all. (Unsound datasets: test/data/hdf5_kinds.cpp.)
#include "h5/reader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "h5/atomic_file.hpp"
#include "h5/writer.hpp"
#include "support/files.hpp"
#include "support/options.hpp"
#include "support/output_of.hpp"
#include "support/scratch.hpp"

namespace wasp::h5 {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::refusal_of;

class Reader : public testing::Test {
protected:
    Reader() : file_(make()) {}
    fs::path make() {
        const auto path = folder_ / "odd.h5";
        test::output_of(test::options.python + " test/h5/make_odd.py " + path.string());
        return path;
    }
    test::Scratch folder_;
    File file_;
};

std::vector<std::int32_t> numbers(const std::vector<std::byte>& bytes) {
    std::vector<std::int32_t> values(bytes.size() / sizeof(std::int32_t));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

TEST_F(Reader, AnyRowsOfAnyStorageAreTheRightOnes) {
    constexpr std::size_t rows = 11;
    constexpr std::size_t row = 35;
    for (const char* name : {"/plain", "/split", "/gzip", "/all", "/lzf", "/szip", "/larger"}) {
        SCOPED_TRACE(name);
        const auto array = file_.array(name);
        EXPECT_EQ(array.shape(), (std::vector<std::size_t>{11, 7, 5}));
        EXPECT_EQ(array.row_bytes(), row * 4);
        for (std::size_t first = 0; first <= rows; ++first)
            for (std::size_t count = 0; first + count <= rows; ++count) {
                std::vector<std::byte> bytes(count * array.row_bytes());
                array.read(first, count, bytes);
                const auto values = numbers(bytes);
                for (std::size_t i = 0; i < values.size(); ++i)
                    ASSERT_EQ(values[i], static_cast<int>(first * row + i))
                        << first << ' ' << count;
            }
    }
}

TEST_F(Reader, PartsCoverTheRowsOnceAndInOrder) {
    for (const char* name : {"/plain", "/gzip", "/larger"}) {
        std::size_t next = 2;
        file_.array(name).read_in_parts(2, 8, [&](std::size_t first, std::size_t rows, auto bytes) {
            EXPECT_EQ(first, next);
            EXPECT_EQ(bytes.size(), rows * 140);
            next += rows;
        });
        EXPECT_EQ(next, 10U);
    }
}

TEST_F(Reader, NumbersOfEveryKindBecomeTheSameDoubles) {
    EXPECT_EQ(file_.array("/big/endian").doubles(), file_.array("/plain").doubles());
    EXPECT_EQ(file_.array("/big/endian").element().name(), "big-endian int64");
    EXPECT_EQ(file_.array("/plain").wholes().back(), 384);
    EXPECT_EQ(file_.array("/fractions").floats(), (std::vector<float>{1, 2.5F}));
    EXPECT_EQ(file_.array("/truth").element().name(), "bool");
    EXPECT_EQ(file_.array("/truth").doubles(), (std::vector<double>{1, 0, 1}));

    const auto half = file_.array("/half").doubles();
    const std::vector<double> expected{0, -0.0, 1, -2, 65504, 0x1p-24, 0x1p-14, 0.333251953125};
    ASSERT_EQ(half.size(), 11U);
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(half[i], expected[i]) << i;
    EXPECT_TRUE(std::signbit(half[1]));
    EXPECT_EQ(half[8], INFINITY);
    EXPECT_EQ(half[9], -INFINITY);
    EXPECT_TRUE(std::isnan(half[10]));
}

TEST_F(Reader, LimitsAndKindsAreKept) {
    EXPECT_TRUE(
        contains(refusal_of([&] { file_.array("/fractions").wholes(); }), "2.5 at index 1"));
    EXPECT_TRUE(contains(refusal_of([&] { file_.array("/plain").doubles(384); }), "at most 384"));
    EXPECT_EQ(file_.array("/plain").doubles(385).size(), 385U);
    EXPECT_TRUE(contains(refusal_of([&] { file_.array("/texts"); }), "found text"));
    EXPECT_TRUE(contains(refusal_of([&] { file_.array("/nothing"); }), "does not exist"));
    EXPECT_TRUE(contains(refusal_of([&] { file_.array("/big"); }), "is a group"));
    EXPECT_TRUE(contains(refusal_of([&] { file_.array("/plain/deeper"); }), "does not exist"));
    const auto empty = file_.array("/empty");
    EXPECT_EQ(empty.size(), 0U);
    EXPECT_TRUE(empty.doubles().empty());
}

TEST_F(Reader, NamesAreThoseOfTheFile) {
    EXPECT_TRUE(file_.has("/big/endian"));
    EXPECT_FALSE(file_.has("/big/small"));
    EXPECT_FALSE(file_.has("/nothing/at/all"));
    EXPECT_EQ(file_.names(3).size(), 3U);
    EXPECT_EQ(file_.names(100).size(), 13U);
    EXPECT_EQ(file_.texts("/texts"), (std::vector<std::string>{"one", "three", ""}));
    EXPECT_TRUE(contains(refusal_of([&] { file_.texts("/plain"); }), "expected strings"));
}

TEST_F(Reader, AttributesKeepTheirKind) {
    const auto value = [&](const char* name) { return file_.attribute("/", name); };
    EXPECT_EQ(value("whole"), Attribute((std::int64_t{1} << 62U) + 1));
    EXPECT_EQ(value("byte"), Attribute(std::int64_t{200}));
    EXPECT_EQ(value("real"), Attribute(0.25));
    EXPECT_EQ(value("yes"), Attribute(true));
    EXPECT_EQ(value("text"), Attribute(std::string("grün")));
    EXPECT_EQ(value("list"), Attribute(std::vector<double>{1.5, 2}));
    EXPECT_EQ(value("nothing"), std::nullopt);
    EXPECT_TRUE(file_.has_attribute("/plain", "unit"));
    EXPECT_EQ(file_.text("/plain", "unit"), "m");
    EXPECT_EQ(file_.text("/", "fixed"), "fixed");
    EXPECT_EQ(file_.text("/", "nothing"), std::nullopt);
    EXPECT_TRUE(contains(refusal_of([&] { file_.text("/", "text"); }), "fixed length"));
    EXPECT_TRUE(contains(refusal_of([&] { file_.text("/", "real"); }), "fixed length"));
    EXPECT_TRUE(contains(refusal_of([&] { value("texts"); }), "expected one string, found 2"));
    EXPECT_TRUE(contains(refusal_of([&] { value("complex"); }), "'complex'"));
    EXPECT_EQ(file_.attributes("/plain").size(), 1U);
    EXPECT_EQ(file_.numbers("/", "list"), (std::vector<double>{1.5, 2}));
    EXPECT_EQ(file_.numbers("/", "byte"), std::vector<double>{200});
    EXPECT_EQ(file_.numbers("/", "nothing"), std::nullopt);
    EXPECT_TRUE(contains(refusal_of([&] { file_.numbers("/", "text"); }), "found text"));
}

TEST_F(Reader, RecordsComeColumnByColumn) {
    constexpr std::array<std::string_view, 4> fields{"name", "from", "where", "nothing"};
    const auto columns = file_.records("/", "records", fields);
    EXPECT_EQ(columns.size(), 3U);
    EXPECT_EQ(columns.at("name").texts, (std::vector<std::string>{"ab", "cdef"}));
    EXPECT_EQ(columns.at("from").wholes, (std::vector<std::int64_t>{3, -1}));
    EXPECT_EQ(columns.at("where").references, (std::vector<std::string>{"/plain", ""}));
    EXPECT_TRUE(contains(refusal_of([&] { file_.records("/", "list", fields); }), "records"));
    EXPECT_TRUE(contains(refusal_of([&] { file_.records("/", "loose", fields); }), "fixed length"));
}

class NotHdf5 : public testing::Test {
protected:
    std::string refusal(const fs::path& path) {
        const auto message = refusal_of([&] { const File file(path); });
        EXPECT_TRUE(contains(message, path.string())) << message;
        return message;
    }
    test::Scratch folder_;
};

TEST_F(NotHdf5, IsNamedForWhatItIs) {
    const struct {
        const char* hint;
        std::string bytes;
    } kinds[]{
        {"is empty", ""},
        {"no signature", "hello"},
        {"no signature", std::string(5000, '\0')},
        {"git lfs pull", "version https://git-lfs.github.com/spec/v1\noid sha256:12\n"},
        {"web page", "<!DOCTYPE html>\n<html></html>"},
        {"web page", "<html><body>404</body></html>"},
        {"gunzip", "\x1f\x8b\x08 and so on"},
        {"binary mode", "\x89HDF\r\r\n\x1a\r\n and so on"},
        {"import idx", std::string("\0\0\x08\x03\0\0\0\x01", 8)},
        {"import idx", std::string("\0\0\x08\x01\0\0\0\x01", 8)},
        {"zip archive", "PK\x03\x04 and so on"},
        {"pickle", "\x80\x03}q and so on"},
        {"tar archive", std::string(257, 'a') + "ustar" + std::string(300, '\0')},
        {"truncated or damaged", "\x89HDF\r\n\x1a\n and no superblock"},
    };
    for (const auto& [hint, bytes] : kinds) {
        SCOPED_TRACE(hint);
        test::write_file(folder_ / "data.h5", bytes);
        EXPECT_TRUE(contains(refusal(folder_ / "data.h5"), hint));
    }
}

TEST_F(NotHdf5, FoldersPipesAndMissingFilesAreRefusedAtOnce) {
    EXPECT_TRUE(contains(refusal(folder_ / "nothing.h5"), "no such file"));
    EXPECT_TRUE(contains(refusal(folder_.path()), "is a folder"));
    ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
    EXPECT_TRUE(contains(refusal(folder_ / "pipe"), "not an ordinary file"));
    fs::create_symlink("loop", folder_ / "loop");
    refusal(folder_ / "loop");
    if (geteuid() == 0) return;  // who may read everything
    test::write_file(folder_ / "secret.h5", "x");
    fs::permissions(folder_ / "secret.h5", fs::perms::none);
    EXPECT_TRUE(contains(refusal(folder_ / "secret.h5"), "can't be read"));
}

TEST_F(NotHdf5, AFileThatAnotherProgramIsWritingIsRefused) {
    const auto path = folder_ / "held.h5";
    Writer writer;
    writer.group("/group");
    replace_file(path, writer.finish());
    const int holder = open(path.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(flock(holder, LOCK_EX | LOCK_NB), 0);
    EXPECT_TRUE(contains(refusal(path), "open for writing"));
    close(holder);
    EXPECT_TRUE(File(path).has("/group"));
}

}  // namespace
}  // namespace wasp::h5
