/// The HDF5 library itself.
#pragma once

#include <string>

namespace wasp::h5 {

std::string library_version();  ///< of the one that is loaded: "1.10.8"

}  // namespace wasp::h5
