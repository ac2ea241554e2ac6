#include "packed_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "base/error.hpp"

namespace wasp {

namespace {

std::size_t size_of_file(const std::filesystem::path& path) {
    std::error_code fault;
    const auto status = std::filesystem::status(path, fault);
    REQUIRE(status.type() != std::filesystem::file_type::not_found, "{}: no such file",
            path.string());
    REQUIRE(std::filesystem::is_regular_file(status), "{}: is not an ordinary file", path.string());
    const auto size = std::filesystem::file_size(path, fault);
    REQUIRE(!fault, "{}: {}", path.string(), fault.message());
    REQUIRE(size > 0, "{}: is empty", path.string());
    return size;
}

}  // namespace

PackedFile::PackedFile(const std::filesystem::path& path)
    : name_(path.string()),
      file_bytes_(size_of_file(path)),
      file_(gzopen(path.c_str(), "rb"), gzclose_r) {
    REQUIRE(file_, "{}: can't be read: {}", name_, std::generic_category().message(errno));
    gzbuffer(file_.get(), 1U << 18U);
    gzipped_ = gzdirect(file_.get()) == 0;
}

std::size_t PackedFile::most_bytes() const {
    constexpr std::size_t best_ratio = 1032;  // of deflate
    return gzipped_ ? file_bytes_ * best_ratio : file_bytes_;
}

std::size_t PackedFile::read(std::span<std::byte> bytes) {
    std::size_t got = 0;
    while (got < bytes.size()) {
        const auto part = std::min(bytes.size() - got, std::size_t{1} << 30U);
        const int now = gzread(file_.get(), bytes.data() + got, static_cast<unsigned>(part));
        int code = Z_OK;
        std::string_view reason = gzerror(file_.get(), &code);
        if (reason.starts_with(name_ + ": ")) reason.remove_prefix(name_.size() + 2);
        REQUIRE(now >= 0 && code == Z_OK, "{}: {}; copy or download it again", name_,
                code == Z_BUF_ERROR ? "ends too early" : fmt::format("damaged: {}", reason));
        if (now == 0) break;
        got += static_cast<std::size_t>(now);
    }
    return got;
}

void PackedFile::read_all_of(std::span<std::byte> bytes, const std::string& what) {
    const std::size_t got = read(bytes);
    REQUIRE(got == bytes.size(), "{}: ends too early: {} bytes of {}, expected {}", name_, got,
            what, bytes.size());
}

void PackedFile::expect_end() {
    std::array<std::byte, 1> more{};
    REQUIRE(read(more) == 0, "{}: holds more bytes than it declares", name_);
}

}  // namespace wasp
