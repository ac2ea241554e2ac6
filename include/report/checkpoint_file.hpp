/// A checkpoint: an HDF5 file with the weights by name, as in a model file, and with what every
/// rank needs to go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "report/model_file.hpp"

namespace wasp {

struct Checkpoint {
    ModelFile model;  ///< for people: the ranks have it, too, and read_checkpoint() leaves it out
    std::int64_t step = 0;  ///< that each worker makes next, from 0
    std::string options;    ///< of the run, as TOML
    std::string dataset_sha256;
    std::vector<std::vector<std::byte>> ranks;  ///< see base/state.hpp
};

/// As a file.
std::vector<std::byte> as_bytes(const Checkpoint& checkpoint);

/// Error: missing, damaged, or no checkpoint (exit code 2).
Checkpoint read_checkpoint(const std::filesystem::path& path);

/// Of one rank, without reading the others'.   Error: the same.
std::vector<std::byte> read_state_of_rank(const std::filesystem::path& path, int rank);

}  // namespace wasp
