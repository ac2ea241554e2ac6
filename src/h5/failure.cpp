#include "failure.hpp"

#include <hdf5.h>

#include <algorithm>

namespace wasp::h5 {

std::string library_reason() {
    std::string reason;
    const auto keep_last = [](unsigned /*depth*/, const H5E_error2_t* error, void* into) -> herr_t {
        if (error->desc != nullptr && *error->desc != '\0')
            *static_cast<std::string*>(into) = error->desc;
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_last, &reason);
    std::ranges::replace_if(
        reason, [](unsigned char c) { return c < ' '; }, ' ');
    return reason.empty() ? "no reason given" : reason;
}

}  // namespace wasp::h5
