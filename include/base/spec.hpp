/// Specs: "name:key=value,key=value", as protocols, schedules and stragglers are given.
/// Strict: a key that the reader doesn't ask for, given twice or malformed is an error.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wasp {

class Spec {
public:
    /// Error: not of the form name[:key=value[,key=value]…], or a key given twice.
    explicit Spec(std::string_view text);

    const std::string& name() const { return name_; }
    const std::string& text() const { return text_; }

    // Each reader takes its key out, so that done() knows what nobody asked for.
    // Error: the value is malformed or outside the range; the message names spec, key and range.
    double number(std::string_view key, double fallback, double low, double high);
    std::int64_t whole(std::string_view key, std::int64_t fallback, std::int64_t low,
                       std::int64_t high);
    std::string word(std::string_view key, std::string_view fallback,
                     std::span<const std::string_view> allowed);
    std::string text(std::string_view key, std::string_view fallback);

    bool has(std::string_view key) const;

    /// Error: a key is left that nobody read; names the nearest of those which were.
    void done() const;

private:
    std::optional<std::string> take(std::string_view key);
    std::string where(std::string_view key) const;

    std::string text_, name_;
    std::map<std::string, std::string, std::less<>> values_;
    std::vector<std::string> asked_;
};

/// A whole number or a decimal; the entire text must be one.   Empty: it is not.
std::optional<double> parse_number(std::string_view text);
std::optional<std::int64_t> parse_whole(std::string_view text);

}  // namespace wasp
