/// Private to src/h5/: attributes as they are written in the header of an object. libhdf5 1.10
/// looks for their values behind type and space, however large these say to be: found by fuzzing.
#pragma once

#include <functional>
#include <string_view>

namespace wasp::h5 {

/// Whether the attribute that is written as `message` ends within it.
/// type_elsewhere: the type that such bytes lead to; empty if they lead to none.
/// Source: HDF5 File Format Specification, IV.A.2.b and m.
bool attribute_fits(std::string_view message,
                    const std::function<std::string_view(std::string_view)>& type_elsewhere);

}  // namespace wasp::h5
