/// What a file is that is not what it was taken for.
#pragma once

#include <cstddef>
#include <string_view>

namespace wasp::h5 {

inline constexpr std::size_t foreign_head_bytes = 512;

/// head: the first bytes of a file, as many of foreign_head_bytes as it has.
/// Returns what it is and what to do, for people: "a web page: the download failed"; empty:
/// unknown.
std::string_view describe_foreign(std::string_view head);

}  // namespace wasp::h5
