#include "numbered.hpp"

#include <fmt/format.h>

#include "h5/atomic_file.hpp"

namespace wasp {

namespace {

std::filesystem::path numbered(const std::filesystem::path& path, int number) {
    if (number == 1) return path;
    auto name = path.stem();
    name += fmt::format("-{}", number);
    name += path.extension();
    return path.parent_path() / name;
}

}  // namespace

std::filesystem::path create_numbered(const std::filesystem::path& path,
                                      std::span<const std::byte> bytes, int most) {
    for (int number = 1; number <= most; ++number) {
        auto candidate = numbered(path, number);
        if (h5::create_file(candidate, bytes)) return candidate;
    }
    return {};
}

}  // namespace wasp
