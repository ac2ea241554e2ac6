/// Standard output: it may be on a full disk, or a pipe that nobody reads any more.
#pragma once

#include <string_view>

namespace wasp {

/// What can't be written is noticed by check_output(), so that it ends no run.
void say(std::string_view text);

/// At the end of the program. A reader that left (`wasp … | head`) has seen what it wanted.
/// Error: something that was said could not be written.
void check_output();

}  // namespace wasp
