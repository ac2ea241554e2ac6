/// Private to src/h5/: the trees in which groups of the old kind keep their links. libhdf5 1.10
/// reads nothing at an address of all ones, and crashes on what it has not read: found by fuzzing.
#pragma once

#include <cstdint>
#include <string_view>

namespace wasp::h5 {

/// file: from the superblock on.   tree, heap: addresses, as a group's header has them.
/// Returns whether all addresses in the tree, and these, lie in the file, none is that of two
/// nodes, and the heap is sound. What is no tree at all is left to the library, which knows trees
/// by their signatures. Source: HDF5 File Format Specification, III.A to III.C.
bool is_sound_group(std::string_view file, std::uint64_t tree, std::uint64_t heap);

}  // namespace wasp::h5
