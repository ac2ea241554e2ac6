// One split a file: `images` and `labels`, or `data` and `label` (Caffe's HDF5Data, DIGITS).
#include "layout.hpp"

namespace wasp {

std::optional<Plan> recognise_one_split(const h5::File& file) {
    if (file.has("/images"))
        return Plan{.layout = "images and labels, one split",
                    .train = {{"/images"}, {"/labels"}},
                    .test = {},
                    .images_first = false};
    if (file.has("/data") && file.has("/label"))
        return Plan{.layout = "Caffe, one split", .train = {{"/data"}, {"/label"}}, .test = {}};
    return std::nullopt;
}

}  // namespace wasp
