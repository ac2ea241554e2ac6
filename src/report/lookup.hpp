/// Private to src/report/: attributes by name, for people.
#pragma once

#include <optional>
#include <string>

#include "report/results_file.hpp"

namespace wasp {

/// A number or truth value of that name. Empty: there is none, or it is not known (NaN).
std::optional<double> number(const Attributes& attributes, const std::string& name);

/// Any single value as text, numbers exactly. Empty text: there is none, or it is not known.
std::string text(const Attributes& attributes, const std::string& name);

}  // namespace wasp
