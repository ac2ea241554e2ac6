/// Private to src/h5/: the global heaps of a file, where strings of variable length are.
#pragma once

#include "source.hpp"

namespace wasp::h5 {

/// libhdf5 1.10 believes the sizes that stand in a global heap: a damaged one crashes it or keeps
/// it busy for ever. So look at all heaps of the file before the first of its strings is read.
/// Files above 1 GiB are not searched.
/// Error: a heap is damaged.
/// Source: HDF5 File Format Specification, III.E.
void check_global_heaps(const File::Source& source);

}  // namespace wasp::h5
