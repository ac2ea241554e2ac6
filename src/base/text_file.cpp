#include "base/text_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/error.hpp"

namespace wasp {

namespace fs = std::filesystem;

std::string read_text_file(const fs::path& path, std::size_t most) {
    std::error_code error;
    const auto status = fs::status(path, error);
    REQUIRE(fs::exists(status), "{}: {}", path.string(),
            status.type() == fs::file_type::not_found ? "no such file" : error.message());
    REQUIRE(fs::is_regular_file(status), "{}: is not an ordinary file", path.string());
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file, "{}: can't be read: {}", path.string(), std::strerror(errno));
    const auto size = fs::file_size(path);
    REQUIRE(size <= most, "{}: larger than {} bytes, so not a file of this kind", path.string(),
            most);
    std::string text(size, '\0');
    file.read(text.data(), static_cast<std::streamsize>(size));
    ENSURE(!file.bad(), "{}: can't be read to its end", path.string());
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

}  // namespace wasp
