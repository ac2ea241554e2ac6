#include "report/model_file.hpp"

#include <cstdint>

#include "base/error.hpp"
#include "h5/atomic_file.hpp"
#include "h5/writer.hpp"

namespace wasp {
namespace {

constexpr std::int64_t format_version = 1;
constexpr auto program = "wasp model";

std::vector<double> as_doubles(const std::vector<float>& values) {
    return {values.begin(), values.end()};
}

}  // namespace

void write_model_file(const std::filesystem::path& path, const ModelFile& file) {
    h5::Writer writer;
    writer.attribute("/", "format_version", format_version);
    writer.attribute("/", "program", program);
    writer.attribute("/", "model", file.model);
    writer.attribute("/", "channels", std::int64_t{file.channels});
    writer.attribute("/", "height", std::int64_t{file.height});
    writer.attribute("/", "width", std::int64_t{file.width});
    writer.attribute("/", "classes", std::int64_t{file.classes});
    writer.attribute("/", "scale", as_doubles(file.scale));
    writer.attribute("/", "shift", as_doubles(file.shift));
    std::string names;
    for (const auto& tensor : file.tensors) {
        writer.dataset("/" + tensor.name, tensor.values, tensor.shape);
        names += (names.empty() ? "" : ",") + tensor.name;
    }
    writer.attribute("/", "tensors", names);
    h5::replace_file(path, writer.bytes());
}

}  // namespace wasp
