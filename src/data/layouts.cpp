#include <fmt/format.h>

#include <array>

#include "base/error.hpp"
#include "layout.hpp"

namespace wasp {

namespace {

/// The first that recognises the file has it.
constexpr std::array layouts{
    Layout{"wasp", recognise_own},  Layout{"Keras", recognise_keras},
    Layout{"Fuel", recognise_fuel}, Layout{"neon", recognise_neon},
    Layout{"PCam", recognise_pcam}, Layout{"names such as images and labels", recognise_names},
};

std::string names_of_layouts() {
    std::string names;
    for (const auto& layout : layouts)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", layout.name);
    return names;
}

}  // namespace

std::size_t count_rows(const h5::Array& array, const Rows& rows) {
    const std::size_t there = array.size() == 0 ? 0 : array.rows();
    if (rows.list) {
        for (const std::size_t row : *rows.list)
            REQUIRE(row < there, "{}: has {} rows, but row {} is meant to be used", array.where(),
                    there, row);
        return rows.list->size();
    }
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
