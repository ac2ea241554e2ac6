/// Private to src/h5/: types of elements as they are written in a file. libhdf5 1.10 reads names
/// and values in them beyond the end of what holds them: found by fuzzing.
#pragma once

#include <string_view>

namespace wasp::h5 {

/// Whether the type that begins with `bytes` ends within them, as do all types inside of it.
/// Source: HDF5 File Format Specification, IV.A.2.d.
bool fits(std::string_view bytes);

}  // namespace wasp::h5
