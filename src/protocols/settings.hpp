/// The keys of a protocol as a table: what parses a spec is what `wasp help protocols` prints.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/spec.hpp"

namespace wasp {

inline constexpr double unlimited = std::numeric_limits<double>::infinity();
inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();  ///< "inf"

struct Choice {
    std::string_view name, meaning;
};

/// How strong something is at the start and at the end of a run: "0.01..0.5", or "0.3" throughout.
struct Ramp {
    double start = 0, end = 0;
    double at(double progress) const { return start + (end - start) * progress; }
};

struct Key {
    enum class Kind { whole, number, ramp, numbers_file, choice, text };

    std::string_view name;
    Kind kind = Kind::whole;
    std::string_view fallback = {};  ///< as it would be typed; empty: the key must be given
    double low = 0, high = 0;        ///< of a number
    std::span<const Choice> choices = {};
    std::string_view meaning = {};
    std::string_view only_with = {};  ///< the choice that the key belongs to; empty: always there
};

inline constexpr double most_steps = 1e9;

/// A number of steps, at least one.
inline Key steps_key(std::string_view name, std::string_view fallback, std::string_view meaning) {
    return {.name = name, .fallback = fallback, .low = 1, .high = most_steps, .meaning = meaning};
}

/// The values of a spec's keys, all checked.
class Settings {
public:
    /// Error: an unknown key, a missing one, a malformed value, or one outside its range. A choice
    /// whose name is given as a key is chosen by that ("table=FILE" is "weight=table,table=FILE").
    Settings(std::string_view spec, const std::vector<Key>& keys);

    std::int64_t whole(std::string_view key) const { return get<std::int64_t>(key); }
    double number(std::string_view key) const { return get<double>(key); }
    Ramp ramp(std::string_view key) const { return get<Ramp>(key); }
    const std::vector<double>& numbers(std::string_view key) const {
        return get<std::vector<double>>(key);
    }
    const std::string& choice(std::string_view key) const { return get<std::string>(key); }
    const std::string& text(std::string_view key) const { return get<std::string>(key); }
    /// Is there such a key, and is this chosen?
    bool chosen(std::string_view key, std::string_view name) const;
    bool has(std::string_view key) const { return values_.contains(key); }

private:
    using Value = std::variant<std::int64_t, double, Ramp, std::vector<double>, std::string>;

    template <class T>
    const T& get(std::string_view key) const {
        return std::get<T>(values_.find(key)->second);
    }
    bool applies(const Key& key) const;
    static Value read(Spec& spec, const Key& key);

    std::map<std::string, Value, std::less<>> values_;
};

/// The keys as lines of text, each indented by `indent` blanks.
std::string describe(const std::vector<Key>& keys, int indent);

}  // namespace wasp
