#include "h5/library.hpp"

#include <fmt/core.h>
#include <hdf5.h>

namespace wasp::h5 {

std::string library_version() {
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace wasp::h5
