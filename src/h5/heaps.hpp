/// Private to src/h5/: the heaps of a file, where names and strings of variable length are.
/// libhdf5 1.10 believes the sizes that stand in them: a damaged one crashes it, makes it take all
/// memory or keeps it busy for ever. So all heaps of a file are looked at before they are used, by
/// their signatures (see MappedFile for files that are not), and those to which headers lead.
#pragma once

#include <cstdint>
#include <string_view>

#include "source.hpp"

namespace wasp::h5 {

/// Of names, in `file` (from the superblock on) at `heap`.
/// Source: HDF5 File Format Specification, III.D.
bool is_sound_local_heap(std::string_view file, std::uint64_t heap);

/// Of the names in groups.   Error: one is damaged.
void check_local_heaps(const File::Source& source);

/// Of strings of variable length.   Error: one is damaged.
/// Source: HDF5 File Format Specification, III.E.
void check_global_heaps(const File::Source& source);

}  // namespace wasp::h5
