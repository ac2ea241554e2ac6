/// Private to src/report/: a model in an HDF5 file, whatever else that holds.
#pragma once

#include "h5/writer.hpp"
#include "report/model_file.hpp"

namespace wasp {

/// Everything of a model file but what tells the kind of file.
void add_model(h5::Writer& writer, const ModelFile& file);

}  // namespace wasp
