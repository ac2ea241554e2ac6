#include "model_io.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

std::string shape_in_words(const std::vector<std::size_t>& shape) {
    return fmt::format("({})", fmt::join(shape, ","));
}

/// Weights, then running statistics.
template <class Visit>
void for_each_tensor(Model& model, Visit visit) {
    for (const auto& view : model.parameters())
        visit(view, model.weights().subspan(view.offset, view.count));
    for (const auto& view : model.state_views())
        visit(view, model.state().subspan(view.offset, view.count));
}

}  // namespace

ModelFile as_file(Model& model, const Dataset& dataset) {
    ModelFile file;
    file.model = model.name();
    file.channels = model.image_shape().channels;
    file.height = model.image_shape().height;
    file.width = model.image_shape().width;
    file.classes = model.classes();
    file.scale = dataset.scale;
    file.shift = dataset.shift;
    for_each_tensor(model, [&](const ParameterView& view, std::span<float> values) {
        file.tensors.push_back({view.name, view.shape, {values.begin(), values.end()}});
    });
    return file;
}

void set_weights(Model& model, const ModelFile& file, const std::filesystem::path& path) {
    REQUIRE(file.model == model.name(), "'{}' holds a model '{}', not '{}'", path.string(),
            file.model, model.name());
    for_each_tensor(model, [&](const ParameterView& view, std::span<float> values) {
        const auto tensor = std::ranges::find(file.tensors, view.name, &NamedTensor::name);
        REQUIRE(tensor != file.tensors.end(), "'{}' has no tensor '{}'", path.string(), view.name);
        REQUIRE(tensor->shape == view.shape, "'{}': {} has the shape {}, and not {} as {} wants",
                path.string(), view.name, shape_in_words(tensor->shape), shape_in_words(view.shape),
                model.name());
        copy(tensor->values, values);
    });
}

}  // namespace wasp
