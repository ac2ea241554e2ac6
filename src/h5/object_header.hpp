/// Private to src/h5/: the headers of objects. libhdf5 1.10 believes the sizes of values that stand
/// in them (data of old versions, fill values, those of enumerations), and reads so much: found by
/// fuzzing. See encoded_type.hpp for types, group_nodes.hpp for groups.
#pragma once

#include "source.hpp"

namespace wasp::h5 {

/// Before the object `name` is opened, or links in it are followed.
/// links: how these are followed.
/// Error: a value in its header is larger than the header; an address is not in the file.
/// Source: HDF5 File Format Specification, IV.A.
void check_object_header(const File::Source& source, const std::string& name, hid_t links);

}  // namespace wasp::h5
