/// "Did you mean …?": every table of names answers an unknown one with the nearest known.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace wasp {

/// The known name with the least edit distance to `name`; empty when none is near enough to help.
std::string_view nearest(std::string_view name, std::span<const std::string_view> known);

/// "unknown KIND 'NAME'; did you mean 'X'? known: a, b, c" as one line.
std::string unknown_name(std::string_view kind, std::string_view name,
                         std::span<const std::string_view> known);

}  // namespace wasp
