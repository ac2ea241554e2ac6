/// Standard output: it may be on a full disk, or a pipe that nobody reads any more.
#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace wasp {

/// What can't be written is noticed by check_output(), so that it ends no run.
void say(std::string_view text);

/// A row of a table, a figure: as fmt::print.
template <class... Values>
void say_as(fmt::format_string<Values...> format, Values&&... values) {
    say(fmt::format(format, std::forward<Values>(values)...));
}

/// At the end of the program. A reader that left (`wasp … | head`) has seen what it wanted.
/// Error: something that was said could not be written.
void check_output();

}  // namespace wasp
