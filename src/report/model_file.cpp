#include "report/model_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string_view>
#include <variant>

#include "add_model.hpp"
#include "base/error.hpp"
#include "h5/atomic_file.hpp"
#include "h5/reader.hpp"
#include "numbered.hpp"
#include "own_file.hpp"

namespace wasp {
namespace {

constexpr auto order = "tensors";  ///< attribute: their names in order, with commas between

std::vector<double> as_doubles(const std::vector<float>& values) {
    return {values.begin(), values.end()};
}

/// As PyTorch makes them: nothing that would be a path or break the list.
bool is_tensor_name(std::string_view name) {
    constexpr std::string_view allowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    return name.find_first_not_of(allowed) == std::string_view::npos &&
           name.find_first_not_of('.') != std::string_view::npos;
}

std::vector<std::string> tensor_names(const h5::File& file) {
    constexpr std::size_t most = 10000;
    const std::string list = text_attribute(file, "/", order);
    std::vector<std::string> names;
    std::set<std::string> known;
    for (std::size_t start = 0; start < list.size() && names.size() <= most;) {
        const std::size_t end = std::min(list.find(',', start), list.size());
        names.push_back(list.substr(start, end - start));
        REQUIRE(is_tensor_name(names.back()) && known.insert(names.back()).second,
                "{}: attribute '{}': '{}' is no name of a tensor, or there twice",
                file.path().string(), order, names.back());
        start = end + 1;
    }
    REQUIRE(names.size() <= most, "{}: more than {} tensors", file.path().string(), most);
    return names;
}

NamedTensor read_tensor(const h5::File& file, const std::string& name) {
    const auto array = file.array("/" + name);
    NamedTensor tensor{name, array.shape(), array.floats()};
    const auto bad =
        std::ranges::find_if(tensor.values, [](float value) { return !std::isfinite(value); });
    REQUIRE(bad == tensor.values.end(),
            "{}: value {} is {}; the run that saved it had diverged, or the file is damaged",
            array.where(), bad - tensor.values.begin(), *bad);
    return tensor;
}

/// (channels) numbers of an attribute.
std::vector<float> per_channel(const h5::File& file, const std::string& name, int channels) {
    const auto attribute = file.attribute("/", name);
    const auto* values = attribute ? std::get_if<std::vector<double>>(&*attribute) : nullptr;
    REQUIRE(values != nullptr && values->size() == static_cast<std::size_t>(channels) &&
                std::ranges::all_of(*values, [](double value) { return std::isfinite(value); }),
            "{}: expected an attribute '{}' of {} numbers", file.path().string(), name, channels);
    return {values->begin(), values->end()};
}

h5::Writer as_hdf5(const ModelFile& file) {
    h5::Writer writer;
    writer.attribute("/", "program", model_kind.program);
    add_model(writer, file);
    return writer;
}

}  // namespace

void add_model(h5::Writer& writer, const ModelFile& file) {
    writer.attribute("/", "format_version", format_version);
    writer.attribute("/", "model", file.model);
    writer.attribute("/", "channels", std::int64_t{file.channels});
    writer.attribute("/", "height", std::int64_t{file.height});
    writer.attribute("/", "width", std::int64_t{file.width});
    writer.attribute("/", "classes", std::int64_t{file.classes});
    writer.attribute("/", "scale", as_doubles(file.scale));
    writer.attribute("/", "shift", as_doubles(file.shift));
    std::string names;
    for (const auto& tensor : file.tensors) {
        ENSURE(is_tensor_name(tensor.name), "bug: '{}' is no name of a tensor", tensor.name);
        writer.dataset("/" + tensor.name, tensor.values, tensor.shape);
        names += (names.empty() ? "" : ",") + tensor.name;
    }
    writer.attribute("/", order, names);
}

void write_model_file(const std::filesystem::path& path, const ModelFile& file) {
    h5::replace_file(path, as_hdf5(file).finish());
}

std::filesystem::path create_model_file(const std::filesystem::path& path, const ModelFile& file) {
    auto name = create_numbered(path, as_hdf5(file).finish(), most_numbers);
    REQUIRE(!name.empty(), "'{}' and {} numbered files after it exist", path.string(),
            most_numbers - 1);
    return name;
}

ModelFile read_model_file(const std::filesystem::path& path) {
    const h5::File source(path);
    check_kind(source, model_kind);
    constexpr int longest_side = 1 << 20, most_classes = 1 << 16;
    const auto number = [&](const char* name, int high) {
        return static_cast<int>(whole_attribute(source, "/", name, 1, high));
    };
    ModelFile file;
    file.model = text_attribute(source, "/", "model");
    file.channels = number("channels", longest_side);
    file.height = number("height", longest_side);
    file.width = number("width", longest_side);
    file.classes = number("classes", most_classes);
    file.scale = per_channel(source, "scale", file.channels);
    file.shift = per_channel(source, "shift", file.channels);
    for (const auto& name : tensor_names(source)) file.tensors.push_back(read_tensor(source, name));
    return file;
}

}  // namespace wasp
