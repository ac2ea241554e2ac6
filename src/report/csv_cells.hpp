/// Private to src/report/: cells of comma-separated values, after RFC 4180 (but with \n alone at
/// the ends of lines).
#pragma once

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <type_traits>

namespace wasp::csv {

/// Options that say which run it is, in this order; all others are details of it.
inline constexpr std::array run_options{"model", "protocol", "data", "batch", "lr", "seed"};

/// Text, in quotes where it needs them.
inline std::string cell(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string all = "\"";
    for (const char c : text) all += c == '"' ? std::string(2, c) : std::string(1, c);
    return all + '"';
}

/// A number, exactly; empty for NaN, which pandas reads as such.
template <class Number>
requires std::is_arithmetic_v<Number> std::string cell(Number value) {
    if constexpr (std::is_floating_point_v<Number>)
        if (std::isnan(value)) return "";
    return fmt::format("{}", value);
}

}  // namespace wasp::csv
