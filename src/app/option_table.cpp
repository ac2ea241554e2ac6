#include "option_table.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/spec.hpp"

namespace wasp {

namespace {

template <class Number>
std::string in_words(const Range<Number>& range, const std::optional<Number>& refused) {
    const bool too_low = refused && *refused <= range.low;
    const bool limited = range.high < Range<Number>::unlimited || !too_low;
    if (range.open)
        return fmt::format("above {}{}", range.low,
                           limited ? fmt::format(" and at most {}", range.high) : "");
    return limited ? fmt::format("from {} to {}", range.low, range.high)
                   : fmt::format("of at least {}", range.low);
}

template <class Number>
bool contains(const Range<Number>& range, Number value) {
    return (range.open ? value > range.low : value >= range.low) && value <= range.high;
}

std::string not_empty(std::string_view text) {
    REQUIRE(!text.empty(), "must not be empty");
    return std::string(text);
}

/// A default as --help shows it.
std::string plain(const Attribute& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
    if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return {};
}

}  // namespace

std::int64_t OptionTable::read(std::string_view text, WholeRange range) {
    const auto value = parse_whole(text);
    REQUIRE(value && contains(range, *value), "'{}' must be a whole number {}", text,
            in_words(range, value));
    return *value;
}

double OptionTable::read(std::string_view text, const NumberRange& range) {
    const auto value = parse_number(text);
    REQUIRE(value && contains(range, *value), "'{}' must be a number {}", text,
            in_words(range, value));
    return *value;
}

std::size_t OptionTable::position(std::string_view word,
                                  const std::vector<std::string_view>& known) {
    const auto found = std::ranges::find(known, word);
    REQUIRE(found != known.end(), "{}", unknown_name("value", word, known));
    return static_cast<std::size_t>(found - known.begin());
}

std::string OptionTable::joined(const std::vector<std::string_view>& words) {
    return fmt::format("{}", fmt::join(words, "|"));
}

void OptionTable::add(Row row) {
    row.heading = heading_;
    rows_.push_back(std::move(row));
}

void OptionTable::assign(Row& row, std::string_view name, std::string_view text) {
    try {
        row.set(text);
    } catch (const Error& error) {
        throw Error(error.code(), fmt::format("{}: {}", name, error.what()));
    }
    row.given = true;
}

void OptionTable::text(std::string_view name, std::string& value, std::string_view meta,
                       std::string_view help) {
    parsed(
        name, meta, [&value](std::string_view text) { value = not_empty(text); },
        [&value] { return value; }, help);
}

void OptionTable::parsed(std::string_view name, std::string_view meta,
                         std::function<void(std::string_view)> parse,
                         std::function<std::string()> print, std::string_view help) {
    add({OptionKind::text, std::string(name), std::string(meta), std::string(help),
         std::move(parse), [print = std::move(print)]() -> std::optional<Attribute> {
             const auto text = print();
             return text.empty() ? std::nullopt : std::optional(Attribute(text));
         }});
}

void OptionTable::flag(std::string_view name, bool& value, std::string_view help) {
    add({OptionKind::flag, std::string(name), "", std::string(help),
         [&value](std::string_view text) { value = text == "true"; },
         [&value] { return attribute(value); }});
}

void OptionTable::positional(std::string_view name, std::string& value, std::string_view help) {
    add({OptionKind::positional, std::string(name), "", std::string(help),
         [&value](std::string_view text) { value = not_empty(text); },
         [&value] { return attribute(value); }});
}

void OptionTable::positional(std::string_view name, std::vector<std::string>& values,
                             std::string_view help) {
    add({OptionKind::positional, std::string(name), "", std::string(help),
         [&values](std::string_view text) { values.push_back(not_empty(text)); }, nullptr});
    rows_.back().many = true;
}

std::string OptionTable::given_name(const Row& row) {
    return fmt::format("{}{}", row.kind == OptionKind::positional ? "" : "--", row.name);
}

void OptionTable::add_to(CLI::App& app) {
    for (auto& row : rows_) {
        CLI::Option* option =
            row.kind == OptionKind::flag ? add_flag(app, row) : add_option(app, row);
        option->group(row.heading);
        if (row.required) option->description(row.help + " (required)");
    }
}

CLI::Option* OptionTable::add_flag(CLI::App& app, Row& row) {
    return app.add_flag_function(
        given_name(row),
        [&row](std::int64_t count) { assign(row, given_name(row), count > 0 ? "true" : "false"); },
        row.help);
}

CLI::Option* OptionTable::add_option(CLI::App& app, Row& row) {
    const bool many = row.many;
    auto* option = app.add_option(
        given_name(row),
        [&row](const CLI::results_t& words) {
            const auto name = given_name(row);
            REQUIRE(row.many || words.size() == 1, "{} is given {} times", name, words.size());
            for (const auto& word : words) {
                REQUIRE(!word.starts_with("--"), "{} needs a value, and {} is an option", name,
                        word);
                assign(row, name, word);
            }
            return true;
        },
        row.help);
    option->type_name(row.meta);
    option->expected(1, many ? CLI::detail::expected_max_vector_size : 1)->allow_extra_args(many);
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (const auto value = row.get ? row.get() : std::nullopt) option->default_str(plain(*value));
    return option;
}

void OptionTable::check_complete() const {
    for (const auto& row : rows_) {
        if (!row.required || row.given) continue;
        throw Error(ExitCode::usage, fmt::format("{} is missing: {}", given_name(row), row.help));
    }
}

Attributes OptionTable::values() const {
    Attributes values;
    for (const auto& row : rows_) {
        const auto value = row.get ? row.get() : std::nullopt;
        if (value) values.emplace(row.name, *value);
    }
    return values;
}

}  // namespace wasp
