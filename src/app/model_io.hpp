/// Between a model in memory and one in a file.
#pragma once

#include <filesystem>

#include "data/dataset.hpp"
#include "nn/model.hpp"
#include "report/model_file.hpp"

namespace wasp {

/// dataset: whose normalisation the model was trained with.
ModelFile as_file(Model& model, const Dataset& dataset);

/// Error: the file holds another network, or one for other images or classes; `path` is named.
void set_weights(Model& model, const ModelFile& file, const std::filesystem::path& path);

}  // namespace wasp
