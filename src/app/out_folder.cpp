#include "out_folder.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "base/error.hpp"

namespace wasp {

std::filesystem::path folder_of(const std::filesystem::path& file) {
    return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

void check_differ(
    const std::vector<std::pair<std::string_view, std::filesystem::path>>& option_and_file) {
    std::map<std::filesystem::path, std::string_view> seen;
    for (const auto& [option, file] : option_and_file) {
        if (file.empty()) continue;
        std::error_code unresolved;  // a loop of links, say: whoever creates the file will tell
        const auto absolute = std::filesystem::absolute(file);
        auto resolved = std::filesystem::weakly_canonical(absolute, unresolved);
        if (unresolved) resolved = absolute.lexically_normal();
        const auto [earlier, fresh] = seen.emplace(std::move(resolved), option);
        REQUIRE(fresh, "{} and {} are the same file '{}'", earlier->second, option, file.string());
    }
}

void check_folder(const std::filesystem::path& file, std::string_view option) {
    const auto folder = folder_of(file);
    REQUIRE(access(folder.c_str(), W_OK) == 0, "{} {}: can't write to the folder '{}': {}", option,
            file.string(), folder.string(), std::strerror(errno));
}

void check_can_create(const std::filesystem::path& file, std::string_view option) {
    check_folder(file, option);
    // A link counts wherever it leads: nothing is written through it.
    REQUIRE(!std::filesystem::exists(std::filesystem::symlink_status(file)),
            "{} {}: the file exists; remove it or choose another", option, file.string());
}

}  // namespace wasp
