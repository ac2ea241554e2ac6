/// What comes of work that may throw.
#pragma once

#include <functional>
#include <optional>

#include "base/error.hpp"

namespace wasp {

/// How `work` failed, whatever it threw; empty when it did not.
std::optional<Error> failure_of(const std::function<void()>& work);

}  // namespace wasp
