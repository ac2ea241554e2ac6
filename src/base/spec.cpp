#include "base/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace wasp {

namespace {

template <class Number>
std::optional<Number> parse(std::string_view text) {
    Number value{};
    const char* end = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data(), end, value);
    if (fault != std::errc{} || stop != end) return std::nullopt;
    return value;
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
    if (text == "inf") return std::numeric_limits<double>::infinity();
    const auto value = parse<double>(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::int64_t> parse_whole(std::string_view text) {
    if (text == "inf") return std::numeric_limits<std::int64_t>::max();
    return parse<std::int64_t>(text);
}

Spec::Spec(std::string_view text) : text_(text), name_(text.substr(0, text.find(':'))) {
    REQUIRE(!name_.empty(), "'{}': expected name or name:key=value,…", text_);
    if (name_.size() == text.size()) return;
    std::string_view rest = text.substr(name_.size() + 1);
    REQUIRE(!rest.empty() && rest.back() != ',', "'{}': expected key=value at the end", text_);
    while (!rest.empty()) {
        const auto item = rest.substr(0, rest.find(','));
        const auto equals = item.find('=');
        REQUIRE(equals != std::string_view::npos && equals > 0 && equals + 1 < item.size(),
                "'{}': expected key=value, got '{}'", text_, item);
        const auto [place, fresh] =
            values_.emplace(std::string(item.substr(0, equals)), item.substr(equals + 1));
        REQUIRE(fresh, "'{}': key '{}' is given twice", text_, place->first);
        rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    }
}

std::optional<std::string> Spec::take(std::string_view key) {
    asked_.emplace_back(key);
    const auto found = values_.find(key);
    if (found == values_.end()) return std::nullopt;
    return values_.extract(found).mapped();
}

std::string Spec::where(std::string_view key) const {
    return fmt::format("'{}': {}", text_, key);
}

double Spec::number(std::string_view key, double fallback, double low, double high) {
    const auto given = take(key);
    if (!given) return fallback;
    const auto value = parse_number(*given);
    const bool unlimited = high == std::numeric_limits<double>::max();
    REQUIRE(
        value && *value >= low && *value <= high, "{}='{}' must be a number {}", where(key), *given,
        unlimited ? fmt::format("of at least {}", low) : fmt::format("from {} to {}", low, high));
    return *value;
}

std::int64_t Spec::whole(std::string_view key, std::int64_t fallback, std::int64_t low,
                         std::int64_t high) {
    const auto given = take(key);
    if (!given) return fallback;
    const auto value = parse_whole(*given);
    const bool unlimited = high == std::numeric_limits<std::int64_t>::max();
    REQUIRE(value && *value >= low && *value <= high,
            "{}='{}' must be a whole number from {} to {}", where(key), *given, low,
            unlimited ? "inf" : std::to_string(high));
    return *value;
}

std::string Spec::word(std::string_view key, std::string_view fallback,
                       std::span<const std::string_view> allowed) {
    const auto given = take(key);
    if (!given) return std::string(fallback);
    REQUIRE(std::ranges::find(allowed, *given) != allowed.end(), "'{}': {}", text_,
            unknown_name(key, *given, allowed));
    return *given;
}

std::string Spec::text(std::string_view key, std::string_view fallback) {
    return take(key).value_or(std::string(fallback));
}

bool Spec::has(std::string_view key) const {
    return values_.contains(key);
}

void Spec::done() const {
    if (values_.empty()) return;
    const std::vector<std::string_view> known(asked_.begin(), asked_.end());
    const auto& key = values_.begin()->first;
    REQUIRE(!known.empty(), "'{}': {} takes no keys, got '{}'", text_, name_, key);
    throw Error(ExitCode::usage,
                fmt::format("'{}': {}", text_, unknown_name(name_ + " key", key, known)));
}

}  // namespace wasp
