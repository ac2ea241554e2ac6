#include "lookup.hpp"

#include <fmt/core.h>

#include <cmath>
#include <type_traits>

namespace wasp {

std::optional<double> number(const Attributes& attributes, const std::string& name) {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return std::nullopt;
    return std::visit(
        [](const auto& value) -> std::optional<double> {
            if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>) {
                const auto real = static_cast<double>(value);
                if (!std::isnan(real)) return real;
            }
            return std::nullopt;
        },
        found->second);
}

std::string text(const Attributes& attributes, const std::string& name) {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return "";
    return std::visit(
        [](const auto& value) -> std::string {
            using Value = std::remove_cvref_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, std::vector<double>>)
                return "";
            else if constexpr (std::is_same_v<Value, double>)
                return std::isnan(value) ? "" : fmt::format("{}", value);
            else
                return fmt::format("{}", value);
        },
        found->second);
}

}  // namespace wasp
