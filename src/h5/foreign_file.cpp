#include "foreign_file.hpp"

#include <array>
#include <cerrno>
#include <fstream>
#include <string_view>
#include <system_error>

#include "base/error.hpp"

namespace wasp::h5 {

namespace {

using namespace std::string_view_literals;

constexpr auto signature = "\x89HDF\r\n\x1a\n"sv;

struct Hint {
    std::size_t offset;
    std::string_view bytes, hint;
};

constexpr std::array hints{
    Hint{0, "version https://git-lfs"sv, "a Git LFS pointer, not the data: run 'git lfs pull'"},
    Hint{0, "\x1f\x8b"sv,
         "compressed with gzip: gunzip it first (IDX files: 'wasp data import idx' reads them so)"},
    Hint{0, "<!"sv, "a web page: the download failed"},
    Hint{0, "<html"sv, "a web page: the download failed"},
    Hint{0, "\x89HDF"sv, "a damaged HDF5 file (sent as text?): copy it again in binary mode"},
    Hint{0, "\0\0\x08\x01"sv, "IDX labels: use 'wasp data import idx'"},
    Hint{0, "\0\0\x08\x03"sv, "IDX images: use 'wasp data import idx'"},
    Hint{0, "PK\x03\x04"sv, "a zip archive (or NumPy's npz): unpack it first"},
    Hint{0, "BZh"sv, "compressed with bzip2: unpack it first"},
    Hint{0,
         "\xfd"
         "7zXZ"sv,
         "compressed with xz: unpack it first"},
    Hint{0, "\x28\xb5\x2f\xfd"sv, "compressed with zstd: unpack it first"},
    Hint{0, "\x80\x02"sv, "a Python pickle: take the binary version of the data"},
    Hint{0, "\x80\x03"sv, "a Python pickle: take the binary version of the data"},
    Hint{0, "\x80\x04"sv, "a Python pickle: take the binary version of the data"},
    Hint{0, "MATLAB 5.0"sv, "a MATLAB 5 file: save it with -v7.3, which is HDF5"},
    Hint{0, "CDF\x01"sv, "NetCDF 3: convert it with 'nccopy -k nc4'"},
    Hint{257, "ustar"sv, "a tar archive: unpack it first"},
};

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

    std::string head(512, '\0');
    file.clear();
    file.seekg(0);
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    for (const auto& [offset, bytes, hint] : hints)
        REQUIRE(std::string_view(head).substr(offset, bytes.size()) != bytes,
                "{}: is not HDF5 but {}", name, hint);
    throw Error(ExitCode::usage, fmt::format("{}: is not an HDF5 file (no signature)", name));
}

}  // namespace wasp::h5
