// Groups `train` and `test`, each with `images` and `labels`, or (as the files of USPS) `data` and
// `target`.
#include <array>

#include "layout.hpp"

namespace wasp {

std::optional<Plan> recognise_groups(const h5::File& file) {
    struct Names {
        const char *images, *labels;
    };
    for (const auto& [images, labels] : {Names{"/images", "/labels"}, Names{"/data", "/target"}}) {
        const auto split = [&, i = images, l = labels](const std::string& group) {
            return SplitPlan{{group + i}, {group + l}};
        };
        if (!file.has(std::string("/train") + images)) continue;
        Plan plan{.layout = "groups train and test", .train = split("/train"), .test = {}};
        if (file.has("/test")) plan.test = split("/test");
        return plan;
    }
    return std::nullopt;
}

}  // namespace wasp
