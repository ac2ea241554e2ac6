#include <fmt/format.h>

#include <array>
#include <string>

#include "base/error.hpp"
#include "layout.hpp"

namespace wasp {

namespace {

struct Kind {
    std::string object, attribute;  ///< by which it is known; no attribute: by the object alone
    std::string what;
};

bool is_kind(const h5::File& file, const Kind& kind) {
    const bool there = kind.object == "/" || file.has(kind.object);
    return there && (kind.attribute.empty() || file.has_attribute(kind.object, kind.attribute));
}

const std::string convert = "which is not read; write two arrays, images and labels, instead";

std::array<Kind, 7> kinds() {
    return {{
        {"/model_weights", "", "is a Keras model, not a data set"},
        {"/", "model_config", "is a Keras model, not a data set"},
        {"/curve", "", "holds the results of a run, not a data set (see 'wasp results show')"},
        {"/", "model", "is a model file, not a data set"},
        {"/neighbors", "", "holds nearest neighbours (ann-benchmarks), but no classes to learn"},
        {"/RUN_ID", "", "holds a group for each sample (LBANN), " + convert},
        {"/full", "", "holds a single sample (LBANN, CosmoFlow), " + convert},
    }};
}

}  // namespace

void refuse_other_kinds(const h5::File& file) {
    const auto path = file.path().string();
    for (const auto& kind : kinds()) REQUIRE(!is_kind(file, kind), "{}: {}", path, kind.what);

    constexpr std::size_t looked_at = 8;
    const auto names = file.names(looked_at);
    std::size_t groups = 0;
    for (const auto& name : names) {
        const bool group = file.is_group("/" + name);
        groups += group ? 1 : 0;
        REQUIRE(!group || !file.has_attribute("/" + name, "pandas_type"),
                "{}: /{} is a table of pandas, {}", path, name, convert);
        REQUIRE(group || !file.has_attribute("/" + name, "FIELD_0_NAME"),
                "{}: /{} is a table of records (PyTables), {}", path, name, convert);
    }
    REQUIRE(groups == 0 || groups < names.size(),
            "{}: holds groups alone, one a class or an image ({}{}), {}", path,
            fmt::join(names, ", "), names.size() == looked_at ? " …" : "", convert);
}

}  // namespace wasp
