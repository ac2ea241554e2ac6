/// The options of a subcommand, one row each. The parser, --help, --config files and the echo in
/// the results all read these rows, so that none of them can drift from the others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/results_file.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace wasp {

/// What an option accepts: [low, high], or (low, high] when `open`.
template <class Number>
struct Range {
    Number low = 0;
    Number high = unlimited;
    bool open = false;

    /// Beyond what anyone means, and below infinity.
    static constexpr Number unlimited = static_cast<Number>(1e15);
};
using WholeRange = Range<std::int64_t>;
using NumberRange = Range<double>;

enum class OptionKind { text, whole, number, flag, positional };

class OptionTable {
public:
    /// Rows added from now on stand under this heading of --help.
    void heading(std::string_view heading) { heading_ = heading; }

    // One row each. `value` holds the default, is written by the parser and outlives the table; as
    // a std::optional without value it means: not given, no default.

    void text(std::string_view name, std::string& value, std::string_view meta,
              std::string_view help);

    template <class Value>  // std::int64_t, perhaps optional
    void whole(std::string_view name, Value& value, WholeRange range, std::string_view help) {
        add({OptionKind::whole, std::string(name), "N", std::string(help),
             [&value, range](std::string_view text) { value = read(text, range); },
             [&value] { return attribute(value); }});
    }

    template <class Value>  // double, perhaps optional
    void number(std::string_view name, Value& value, NumberRange range, std::string_view help) {
        add({OptionKind::number, std::string(name), "X", std::string(help),
             [&value, range](std::string_view text) { value = read(text, range); },
             [&value] { return attribute(value); }});
    }

    void flag(std::string_view name, bool& value, std::string_view help);

    /// One of a few words, each of which stands for a Meaning.
    template <class Meaning, class Value>  // Value: Meaning, perhaps optional
    void choice(std::string_view name, Value& value,
                const std::vector<std::pair<std::string_view, Meaning>>& words,
                std::string_view help) {
        std::vector<std::string_view> names;
        names.reserve(words.size());
        for (const auto& word : words) names.push_back(word.first);
        add({OptionKind::text, std::string(name), joined(names), std::string(help),
             [&value, words, names](std::string_view text) {
                 value = words[position(text, names)].second;
             },
             [&value, words]() -> std::optional<Attribute> {
                 for (const auto& [word, meaning] : words)
                     if (value == meaning) return std::string(word);
                 return std::nullopt;
             }});
    }

    /// Text with a syntax of its own.   parse: throws what is wrong with it; print: its inverse.
    void parsed(std::string_view name, std::string_view meta,
                std::function<void(std::string_view)> parse, std::function<std::string()> print,
                std::string_view help);

    /// An argument without a name; a vector takes one and more.
    void positional(std::string_view name, std::string& value, std::string_view help);
    void positional(std::string_view name, std::vector<std::string>& values, std::string_view help);

    /// The row added last must be given.
    void required() { rows_.back().required = true; }

    /// These options say the same in different ways: one on the command line replaces all of a
    /// file.
    void alternatives(std::vector<std::string_view> names) { alternatives_ = std::move(names); }

    void add_to(CLI::App& app);

    /// Set what the command line did not.
    /// Error: not a TOML file; an unknown key (names the nearest known); a value that its option
    /// refuses.
    void read_toml(const std::filesystem::path& path);

    /// Error: a required option is missing.
    void check_complete() const;

    /// Name and value of every option that has one.
    Attributes values() const;
    /// The same, as the text of a --config file.
    std::string toml() const;

private:
    struct Row {
        OptionKind kind;
        std::string name, meta, help;
        std::function<void(std::string_view)> set;
        std::function<std::optional<Attribute>()> get;
        std::string heading = {};
        bool required = false, given = false;
        bool many = false;  // a positional that may be given more than once
    };

    void add(Row row);
    /// name: as the user gave it, for what is wrong with `text`.
    static void assign(Row& row, std::string_view name, std::string_view text);
    static std::string given_name(const Row& row);  ///< as on the command line
    static CLI::Option* add_flag(CLI::App& app, Row& row);
    static CLI::Option* add_option(CLI::App& app, Row& row);
    Row& row_of(std::string_view key);
    void overrule_alternatives();

    static std::int64_t read(std::string_view text, WholeRange range);
    static double read(std::string_view text, const NumberRange& range);
    static std::size_t position(std::string_view word, const std::vector<std::string_view>& known);
    static std::string joined(const std::vector<std::string_view>& words);

    template <class Value>
    static std::optional<Attribute> attribute(const Value& value) {
        return Attribute(value);
    }
    template <class Value>
    static std::optional<Attribute> attribute(const std::optional<Value>& value) {
        return value ? std::optional(Attribute(*value)) : std::nullopt;
    }

    std::string heading_ = "Options";
    std::vector<Row> rows_;
    std::vector<std::string_view> alternatives_;
};

}  // namespace wasp
