/// Weights as named HDF5 datasets ("conv1.weight", OIHW), so that h5py and PyTorch can load them.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace wasp {

struct NamedTensor {
    std::string name;
    std::vector<std::size_t> shape;
    std::vector<float> values;
};

struct ModelFile {
    std::string model;  ///< as --model
    int channels = 1, height = 1, width = 1, classes = 10;
    std::vector<float> scale, shift;  ///< (C): the normalisation it was trained with
    std::vector<NamedTensor> tensors;
};

/// Written aside and renamed; an earlier file of that name is replaced.
/// Error: the folder is missing or can't be written to (exit code 2); the disk is full (1). The
/// earlier file stays.
void write_model_file(const std::filesystem::path& path, const ModelFile& file);

/// The same where nothing may be replaced: when model.h5 is taken, it becomes model-2.h5, and so
/// on. Returns the name.
std::filesystem::path create_model_file(const std::filesystem::path& path, const ModelFile& file);

/// Error: missing, damaged, not a model file, or sizes that do not fit one another (exit code 2).
/// All values are finite; whether names and shapes suit a network is for the caller to say.
ModelFile read_model_file(const std::filesystem::path& path);

}  // namespace wasp
