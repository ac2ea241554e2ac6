#include <fmt/format.h>

#include <array>

#include "base/error.hpp"
#include "layout.hpp"

namespace wasp {

namespace {

/// The first that recognises the file has it.
constexpr std::array layouts{
    Layout{"wasp", recognise_own},
    Layout{"Keras", recognise_keras},
    Layout{"Fuel", recognise_fuel},
    Layout{"groups train and test", recognise_groups},
    Layout{"one split", recognise_one_split},
};

std::string names_of_layouts() {
    std::string names;
    for (const auto& layout : layouts)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", layout.name);
    return names;
}

/// Files of other kinds that are often mistaken for data.
void refuse_other_kinds(const h5::File& file) {
    const auto path = file.path().string();
    REQUIRE(!file.has("/model_weights") && !file.has_attribute("/", "model_config"),
            "{}: is a Keras model, not a data set", path);
    REQUIRE(!file.has("/summary") || !file.has("/curve"),
            "{}: holds the results of a run, not a data set (see 'wasp results show')", path);
    REQUIRE(!file.has_attribute("/", "model"), "{}: is a model file, not a data set", path);
}

}  // namespace

std::size_t count_rows(const h5::Array& array, const Rows& rows) {
    const std::size_t there = array.size() == 0 ? 0 : array.rows();
    REQUIRE(rows.first <= there && rows.count.value_or(0) <= there - rows.first,
            "{}: has {} rows, but rows {} to {} are meant to be used", array.where(), there,
            rows.first, rows.first + rows.count.value_or(0));
    return rows.count.value_or(there - rows.first);
}

Plan recognise_layout(const h5::File& file) {
    for (const auto& layout : layouts)
        if (auto plan = layout.recognise(file)) return *plan;
    refuse_other_kinds(file);
    constexpr std::size_t shown = 8;
    const auto names = file.names(shown);
    throw Error(ExitCode::usage,
                fmt::format("{}: holds images and labels in none of the known layouts ({}); at its "
                            "root: {}{}",
                            file.path().string(), names_of_layouts(),
                            names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", ")),
                            names.size() == shown ? " …" : ""));
}

}  // namespace wasp
