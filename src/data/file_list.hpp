/// Private to src/data/: data files in several pieces.
#pragma once

#include <filesystem>
#include <vector>

namespace wasp {

/// The files that a text file names, one a line, from its own folder or the working folder: the
/// `source` of Caffe's HDF5Data, list.txt of DIGITS, *.list of mpi_learn.   Empty: it is no such
/// list.   Error: one of the files is missing.
std::vector<std::filesystem::path> read_file_list(const std::filesystem::path& path);

}  // namespace wasp
