#include "calibration.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <span>
#include <sstream>

#include "base/error.hpp"
#include "base/text_file.hpp"
#include "h5/atomic_file.hpp"

namespace wasp {

namespace {

// Reading and writing go through the same lists of items.

template <class Visit>
void visit(Calibration::Step& step, Visit item) {
    item("model", step.model);
    item("batch", step.batch);
    item("threads", step.threads);
    item("seconds", step.seconds);
    item("jitter", step.jitter);
    item("pauses", step.pauses);
    item("pause", step.pause);
    item("polls", step.polls);
    item("slowness", step.slowness);
}

template <class Visit>
void visit(Calibration::Store& store, Visit item) {
    item("floats", store.floats);
    item("ranks", store.ranks);
    item("pull", store.pull);
    item("push", store.push);
    item("counter", store.counter);
}

/// Returns whether there is a value of this kind.
template <class Value>
bool read(const toml::table& table, std::string_view key, Value& value) {
    const auto found = table[key].value<Value>();
    if (found) value = *found;
    if constexpr (std::is_arithmetic_v<Value>) return found && value >= 0;
    return found.has_value();
}

/// A list may be left out.
bool read(const toml::table& table, std::string_view key, std::vector<double>& values) {
    if (!table.contains(key)) return true;
    const auto* const list = table[key].as_array();
    if (list == nullptr) return false;
    for (const auto& item : *list) {
        const auto value = item.value<double>();
        if (!value || *value <= 0) return false;
        values.push_back(*value);
    }
    return true;
}

template <class Value>
void write(toml::table& table, std::string_view key, const Value& value) {
    table.insert_or_assign(key, value);
}

void write(toml::table& table, std::string_view key, const std::vector<double>& values) {
    toml::array list;
    for (const double value : values) list.push_back(value);
    if (!list.empty()) table.insert_or_assign(key, std::move(list));
}

template <class One>
std::vector<One> read_all(const std::filesystem::path& path, const toml::table& file,
                          std::string_view name) {
    std::vector<One> all;
    const auto* const list = file[name].as_array();
    if (list == nullptr) return all;
    for (const auto& node : *list) {
        REQUIRE(node.is_table(), "{}: {} is not a list of tables", path.string(), name);
        visit(all.emplace_back(), [&](std::string_view key, auto& value) {
            REQUIRE(read(*node.as_table(), key, value),
                    "{}: a [[{}]] has no '{}', or a negative one, or one of another kind",
                    path.string(), name, key);
        });
    }
    return all;
}

template <class One>
toml::array as_array(std::vector<One> all) {
    toml::array list;
    for (One& one : all) {
        toml::table table;
        visit(one, [&](std::string_view key, const auto& value) { write(table, key, value); });
        list.push_back(std::move(table));
    }
    return list;
}

template <class One, class Same>
void replace(std::vector<One>& all, const One& one, Same is_same) {
    std::erase_if(all, is_same);
    all.push_back(one);
}

}  // namespace

void Calibration::add(const Step& step) {
    replace(steps, step, [&](const Step& other) {
        return other.model == step.model && other.batch == step.batch &&
               other.threads == step.threads;
    });
}

void Calibration::add(const Store& store) {
    replace(stores, store, [&](const Store& other) {
        return other.floats == store.floats && other.ranks == store.ranks;
    });
}

Calibration read_calibration(const std::filesystem::path& path) {
    constexpr std::size_t most_bytes = 1'000'000;
    try {
        const toml::table file = toml::parse(read_text_file(path, most_bytes));
        return {.steps = read_all<Calibration::Step>(path, file, "step"),
                .stores = read_all<Calibration::Store>(path, file, "store")};
    } catch (const toml::parse_error& error) {
        throw Error(ExitCode::usage, fmt::format("{}: line {}: {}", path.string(),
                                                 error.source().begin.line, error.description()));
    }
}

template <class Measurement>
void calibrate(const std::filesystem::path& path, const Measurement& one) {
    Calibration calibration;
    if (std::filesystem::exists(path)) calibration = read_calibration(path);
    calibration.add(one);
    std::ostringstream text;
    text << toml::table{{"step", as_array(calibration.steps)},
                        {"store", as_array(calibration.stores)}}
         << "\n";
    h5::replace_file(path, std::as_bytes(std::span<const char>(text.str())));
}
template void calibrate(const std::filesystem::path&, const Calibration::Step&);
template void calibrate(const std::filesystem::path&, const Calibration::Store&);

}  // namespace wasp
