#include "out_folder.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.hpp"

namespace wasp {

std::filesystem::path folder_of(const std::filesystem::path& file) {
    return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

void check_can_create(const std::filesystem::path& file, std::string_view option) {
    const auto folder = folder_of(file);
    REQUIRE(access(folder.c_str(), W_OK) == 0, "{} {}: can't write to the folder '{}': {}", option,
            file.string(), folder.string(), std::strerror(errno));
    REQUIRE(!std::filesystem::exists(file), "{} {}: the file exists; remove it or choose another",
            option, file.string());
}

}  // namespace wasp
