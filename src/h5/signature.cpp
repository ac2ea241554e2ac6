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
bool has_signature(std::ifstream& file) {
    std::array<char, signature.size()> bytes{};
    for (std::streamoff offset = 0;; offset = offset == 0 ? 512 : offset * 2) {
        file.clear();
        file.seekg(offset);
        if (!file.read(bytes.data(), bytes.size())) return false;
        if (std::string_view(bytes.data(), bytes.size()) == signature) return true;
    }
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
    if (has_signature(file)) return;

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
