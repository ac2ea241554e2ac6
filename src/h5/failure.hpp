/// Private to src/h5/: what the library says about its last failure.
#pragma once

#include <string>

namespace wasp::h5 {

/// The innermost reason on the library's error stack, e.g. "truncated file: eof = 46444, …".
std::string library_reason();

}  // namespace wasp::h5
