#include "file_list.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "base/error.hpp"

namespace wasp {

namespace {

namespace fs = std::filesystem;

std::optional<fs::path> find_file(const fs::path& list, const std::string& line) {
    std::error_code ignored;
    for (const auto& path : {list.parent_path() / line, fs::path(line)})
        if (fs::is_regular_file(path, ignored)) return path;
    return std::nullopt;
}

bool is_text(const std::string& line) {
    return std::ranges::none_of(line, [](unsigned char c) { return c < ' ' && c != '\t'; });
}

}  // namespace

std::vector<fs::path> read_file_list(const fs::path& path) {
    constexpr std::uintmax_t largest = std::uintmax_t{1} << 20U;
    std::error_code fault;
    if (!fs::is_regular_file(path, fault)) return {};
    const auto bytes = fs::file_size(path, fault);
    if (fault || bytes == 0 || bytes > largest) return {};
    const bool by_name = path.extension() == ".txt" || path.extension() == ".list";

    std::ifstream file(path);
    std::vector<fs::path> files;
    std::string line;
    for (std::size_t number = 1; std::getline(file, line); ++number) {
        const auto end = line.find_last_not_of(" \t\r");
        line.resize(end == std::string::npos ? 0 : end + 1);
        if (line.empty()) continue;
        if (files.empty() && !is_text(line)) return {};
        const auto found = is_text(line) ? find_file(path, line) : std::nullopt;
        if (files.empty() && !found && !by_name) return {};
        REQUIRE(found, "{}: line {} names no file: {:.100}", path.string(), number,
                is_text(line) ? line : "it is no text");
        files.push_back(*found);
    }
    return files;
}

}  // namespace wasp
