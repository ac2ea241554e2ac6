// The TOML side of the options: --config files, and the text that is stored with the results.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/text_file.hpp"
#include "option_table.hpp"

namespace wasp {

namespace {

/// An attribute as TOML writes it.
std::string toml_value(const Attribute& value) {
    std::ostringstream out;
    if (const auto* text = std::get_if<std::string>(&value)) out << toml::value(*text);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) out << *whole;
    if (const auto* number = std::get_if<double>(&value)) out << fmt::format("{}", *number);
    if (const auto* flag = std::get_if<bool>(&value)) out << (*flag ? "true" : "false");
    return out.str();
}

/// A scalar of a TOML file as the command line would give it; empty when it is none.
std::optional<std::string> as_text(const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* whole = node.as_integer()) return std::to_string(whole->get());
    if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
    if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
    return std::nullopt;
}

bool fits(OptionKind kind, const toml::node& node) {
    switch (kind) {
        case OptionKind::whole:
            return node.is_integer();
        case OptionKind::number:
            return node.is_number();
        case OptionKind::flag:
            return node.is_boolean();
        default:
            return node.is_string();
    }
}

std::string_view in_words(OptionKind kind) {
    switch (kind) {
        case OptionKind::whole:
            return "a whole number";
        case OptionKind::number:
            return "a number";
        case OptionKind::flag:
            return "true or false";
        default:
            return "a text in quotes";
    }
}

}  // namespace

OptionTable::Row& OptionTable::row_of(std::string_view key) {
    const auto row = std::ranges::find_if(rows_, [key](const Row& candidate) {
        return candidate.kind != OptionKind::positional && candidate.name == key;
    });
    if (row != rows_.end()) return *row;
    std::vector<std::string_view> known;
    for (const auto& candidate : rows_) known.push_back(candidate.name);
    throw Error(ExitCode::usage, unknown_name("option", key, known));
}

void OptionTable::overrule_alternatives() {
    const auto is_one = [this](const Row& row) {
        return std::ranges::find(alternatives_, row.name) != alternatives_.end();
    };
    const bool given =
        std::ranges::any_of(rows_, [&](const Row& row) { return row.given && is_one(row); });
    for (Row& row : rows_) row.given = row.given || (given && is_one(row));
}

void OptionTable::read_toml(const std::filesystem::path& path) {
    constexpr std::size_t most = 1 << 20;
    const std::string content = read_text_file(path, most);
    toml::table file;
    try {
        file = toml::parse(content);
    } catch (const toml::parse_error& error) {
        throw Error(ExitCode::usage, fmt::format("{}, line {}: {}", path.string(),
                                                 error.source().begin.line, error.description()));
    }
    overrule_alternatives();
    for (const auto& [key, node] : file) {
        try {
            Row& row = row_of(key.str());
            const auto text = as_text(node);
            REQUIRE(text && fits(row.kind, node), "{} must be {}", row.name, in_words(row.kind));
            if (!row.given) assign(row, row.name, *text);
        } catch (const Error& error) {
            throw Error(error.code(), fmt::format("{}, line {}: {}", path.string(),
                                                  node.source().begin.line, error.what()));
        }
    }
}

std::string OptionTable::toml() const {
    std::string text;
    for (const auto& row : rows_) {
        const auto value = row.get ? row.get() : std::nullopt;
        if (value) text += fmt::format("{} = {}\n", row.name, toml_value(*value));
    }
    return text;
}

}  // namespace wasp
