#include "signature.hpp"

#include <array>
#include <cerrno>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.hpp"
#include "h5/foreign_file.hpp"

namespace wasp::h5 {

namespace {

using namespace std::string_view_literals;

constexpr auto signature = "\x89HDF\r\n\x1a\n"sv;

/// The signature stands at 0, 512, 1024, 2048 …: a block of the user's may come first.
/// Leaves the file behind it.
bool find_signature(std::ifstream& file) {
    std::array<char, signature.size()> bytes{};
    for (std::streamoff offset = 0;; offset = offset == 0 ? 512 : offset * 2) {
        file.clear();
        file.seekg(offset);
        if (!file.read(bytes.data(), bytes.size())) return false;
        if (std::string_view(bytes.data(), bytes.size()) == signature) return true;
    }
}

/// What follows the signature: the library takes as much memory as driver information says that it
/// needs, wherever its address leads (found by fuzzing).
/// Source: HDF5 File Format Specification, II.A.
void check_superblock(std::ifstream& file, const std::string& name) {
    constexpr std::size_t head = 8, number = 8, versions_with_driver = 2;
    std::array<char, 2 * head + 5 * number> bytes{};
    file.read(bytes.data(), bytes.size());
    const std::string_view block(bytes.data(), static_cast<std::size_t>(file.gcount()));
    if (block.size() < bytes.size()) return;  // the library tells
    const auto version = static_cast<unsigned char>(block[0]);
    const bool is_old = version < versions_with_driver;
    const auto addresses = static_cast<unsigned char>(block[is_old ? 5 : 1]);
    const auto lengths = static_cast<unsigned char>(block[is_old ? 6 : 2]);
    REQUIRE(addresses == number && lengths == number,
            "{}: addresses of {} bytes, and lengths of {}; those of 8 are read", name, addresses,
            lengths);
    // Base, free space, end, driver information; in version 1 there are four bytes more before.
    const auto driver = block.substr(2 * head + 3 * number + (version == 1 ? 4 : 0), number);
    REQUIRE(!is_old || driver == "\xff\xff\xff\xff\xff\xff\xff\xff"sv,
            "{}: damaged, or one of several files that are one (family or multi driver)", name);
}

}  // namespace

void check_signature(const std::filesystem::path& path) {
    std::error_code fault;
    const auto status = std::filesystem::status(path, fault);
    const auto name = path.string();
    REQUIRE(status.type() != std::filesystem::file_type::not_found, "{}: no such file", name);
    REQUIRE(!std::filesystem::is_directory(status),
            "{}: is a folder; give an HDF5 file (see 'wasp data import')", name);
    REQUIRE(!fault, "{}: {}", name, fault.message());
    REQUIRE(std::filesystem::is_regular_file(status), "{}: is not an ordinary file", name);

    std::ifstream file(path, std::ios::binary);
    REQUIRE(file, "{}: can't be read: {}", name, std::generic_category().message(errno));
    REQUIRE(std::filesystem::file_size(path, fault) > 0, "{}: is empty", name);
    if (find_signature(file)) return check_superblock(file, name);

    std::string head(foreign_head_bytes, '\0');
    file.clear();
    file.seekg(0);
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(file.gcount()));
    const auto hint = describe_foreign(head);
    REQUIRE(hint.empty(), "{}: is not HDF5 but {}", name, hint);
    throw Error(ExitCode::usage, fmt::format("{}: is not an HDF5 file (no signature)", name));
}

}  // namespace wasp::h5
