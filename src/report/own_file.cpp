#include "own_file.hpp"

#include <limits>
#include <optional>
#include <variant>

#include "base/error.hpp"

namespace wasp {
namespace {

template <class Value>
Value attribute_as(const h5::File& file, const std::string& object, const std::string& name,
                   std::string_view kind) {
    const auto attribute = file.attribute(object, name);
    const Value* value = attribute ? std::get_if<Value>(&*attribute) : nullptr;
    REQUIRE(value != nullptr, "{}: {}: expected an attribute '{}' that is {}", file.path().string(),
            object, name, kind);
    return *value;
}

}  // namespace

void check_kind(const h5::File& file, const FileKind& kind) {
    const std::string path = file.path().string();
    const auto attribute = file.attribute("/", "program");
    const auto* program = attribute ? std::get_if<std::string>(&*attribute) : nullptr;
    const std::string found = program == nullptr ? "" : *program;
    for (const auto& other : {results_kind, model_kind, checkpoint_kind})
        REQUIRE(found == kind.program || found != other.program, "{}: is {}, not {}; see '{} {}'",
                path, other.name, kind.name, other.command, path);
    REQUIRE(found == kind.program,
            "{}: is HDF5, but not {} of wasp; give a file that 'wasp train {}' wrote", path,
            kind.name, kind.option);
    const auto version =
        whole_attribute(file, "/", "format_version", 1, std::numeric_limits<std::int64_t>::max());
    REQUIRE(version <= format_version,
            "{}: is of format {}, this program reads up to {}; use a newer one", path, version,
            format_version);
}

std::string text_attribute(const h5::File& file, const std::string& object,
                           const std::string& name) {
    return attribute_as<std::string>(file, object, name, "text");
}

std::int64_t whole_attribute(const h5::File& file, const std::string& object,
                             const std::string& name, std::int64_t low, std::int64_t high) {
    const auto value = attribute_as<std::int64_t>(file, object, name, "a whole number");
    REQUIRE(value >= low && value <= high, "{}: {}: attribute '{}' is {}, expected {} to {}",
            file.path().string(), object, name, value, low, high);
    return value;
}

}  // namespace wasp
