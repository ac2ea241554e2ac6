#include "settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "base/error.hpp"
#include "base/text_file.hpp"

namespace wasp {

namespace {

Ramp read_ramp(Spec& spec, const Key& key) {
    const std::string text = spec.text(key.name, key.fallback);
    const auto dots = text.find("..");
    const auto start = parse_number(std::string_view(text).substr(0, dots));
    const auto end =
        dots == std::string::npos ? start : parse_number(std::string_view(text).substr(dots + 2));
    const auto good = [&](const std::optional<double>& value) {
        return value && *value >= key.low && *value <= key.high;
    };
    REQUIRE(good(start) && good(end),
            "'{}': {}='{}' must be a number from {} to {}, or two as in 0.01..0.5", spec.text(),
            key.name, text, key.low, key.high);
    return {*start, *end};
}

/// One number a line, and nothing else.
std::vector<double> read_numbers(const std::string& path, const Key& key) {
    constexpr std::size_t most = 1'000'000;
    constexpr std::size_t most_bytes = 64 * most;
    std::array<char, 64> line{};
    std::istringstream file(read_text_file(path, most_bytes));
    std::vector<double> numbers;
    while (file.getline(line.data(), line.size())) {
        const auto length = static_cast<std::size_t>(file.gcount()) - (file.eof() ? 0 : 1);
        const std::string_view text(line.data(), length);
        const auto value = parse_number(text);
        REQUIRE(value && *value >= key.low && *value <= key.high,
                "{}, line {}: '{}' must be a number from {} to {}", path, numbers.size() + 1, text,
                key.low, key.high);
        REQUIRE(numbers.size() < most, "{}: more than {} lines", path, most);
        numbers.push_back(*value);
    }
    REQUIRE(file.eof(), "{}, line {}: not a number", path, numbers.size() + 1);
    REQUIRE(!numbers.empty(), "{}: empty; give one number a line", path);
    return numbers;
}

std::string read_choice(Spec& spec, const Key& key) {
    std::vector<std::string_view> names;
    std::string_view fallback = key.fallback;
    for (const Choice& choice : key.choices) {
        names.push_back(choice.name);
        if (spec.has(choice.name)) fallback = choice.name;
    }
    return spec.word(key.name, fallback, names);
}

}  // namespace

Settings::Settings(std::string_view text, const std::vector<Key>& keys) {
    Spec spec(text);
    for (const Key& key : keys)
        if (applies(key)) values_.emplace(key.name, read(spec, key));
    spec.done();
}

bool Settings::chosen(std::string_view key, std::string_view name) const {
    const auto found = values_.find(key);
    if (found == values_.end()) return false;
    const auto* word = std::get_if<std::string>(&found->second);
    return word != nullptr && *word == name;
}

bool Settings::applies(const Key& key) const {
    return key.only_with.empty() || std::ranges::any_of(values_, [&](const auto& item) {
               return chosen(item.first, key.only_with);
           });
}

Settings::Value Settings::read(Spec& spec, const Key& key) {
    REQUIRE(!key.fallback.empty() || spec.has(key.name), "'{}': {} needs {}=…, {}", spec.text(),
            key.only_with.empty() ? spec.name() : key.only_with, key.name, key.meaning);
    switch (key.kind) {
        case Key::Kind::whole:
            return spec.whole(key.name, parse_whole(key.fallback).value_or(0),
                              static_cast<std::int64_t>(key.low),
                              key.high == unlimited ? never : static_cast<std::int64_t>(key.high));
        case Key::Kind::number:
            return spec.number(key.name, parse_number(key.fallback).value_or(0), key.low, key.high);
        case Key::Kind::ramp:
            return read_ramp(spec, key);
        case Key::Kind::numbers_file:
            return read_numbers(spec.text(key.name, key.fallback), key);
        case Key::Kind::text:
            return spec.text(key.name, key.fallback);
        case Key::Kind::choice:
            break;
    }
    return read_choice(spec, key);
}

std::string describe(const std::vector<Key>& keys, int indent) {
    std::string lines;
    for (const Key& key : keys) {
        const bool numeric = key.kind == Key::Kind::whole || key.kind == Key::Kind::number ||
                             key.kind == Key::Kind::ramp;
        lines += fmt::format("{:{}}{:<18} {}{}{}\n", "", indent,
                             fmt::format("{}={}", key.name, key.fallback), key.meaning,
                             numeric ? fmt::format(" ({}…{})", key.low, key.high) : "",
                             key.only_with.empty() ? "" : fmt::format(", with {}", key.only_with));
        for (const Choice& choice : key.choices)
            lines += fmt::format("{:{}}  {:<16} {}\n", "", indent, choice.name, choice.meaning);
    }
    return lines;
}

}  // namespace wasp
