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
}

template <class Visit>
void visit(Calibration::Store& store, Visit item) {
    item("floats", store.floats);
    item("ranks", store.ranks);
    item("pull", store.pull);
    item("push", store.push);
    item("counter", store.counter);
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
            using Value = std::remove_reference_t<decltype(value)>;
            const auto found = (*node.as_table())[key].value<Value>();
            REQUIRE(found, "{}: a [[{}]] has no '{}', or one of another kind", path.string(), name,
                    key);
            value = *found;
            if constexpr (!std::is_same_v<Value, std::string>)
                REQUIRE(value >= 0, "{}: a [[{}]] has a negative '{}'", path.string(), name, key);
        });
    }
    return all;
}

template <class One>
toml::array as_array(std::vector<One> all) {
    toml::array list;
    for (One& one : all) {
        toml::table table;
        visit(one,
              [&](std::string_view key, const auto& value) { table.insert_or_assign(key, value); });
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
