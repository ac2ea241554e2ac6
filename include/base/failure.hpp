/// What comes of work that may throw.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace wasp {

/// How `work` failed, whatever it threw; empty when it did not.
std::optional<Error> failure_of(const std::function<void()>& work);

/// For the user: as one line, whatever names of files and the like it quotes.
std::string one_line(std::string_view text);

}  // namespace wasp
