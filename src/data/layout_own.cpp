// Ours, as 'wasp data import' writes it: see docs/DATA.md.
#include <cstdint>

#include "base/error.hpp"
#include "layout.hpp"
#include "own_file.hpp"

namespace wasp {

std::optional<Plan> recognise_own(const h5::File& file) {
    if (!file.has("/train/images") || !file.has_attribute("/", "format_version"))
        return std::nullopt;
    const auto path = file.path().string();
    const auto version = file.attribute("/", "format_version");
    const auto* number = std::get_if<std::int64_t>(&*version);
    REQUIRE(number != nullptr && *number == own_format_version,
            "{}: attribute 'format_version' is not {}, which this program knows; use the wasp that "
            "wrote it",
            path, own_format_version);
    const auto classes = file.attribute("/", "classes");
    const auto* count = classes ? std::get_if<std::int64_t>(&*classes) : nullptr;
    REQUIRE(count != nullptr && *count >= 1 && *count <= largest_class_count,
            "{}: attribute 'classes' must be a whole number from 1 to {}", path,
            largest_class_count);
    return Plan{.layout = "wasp",
                .train = {{"/train/images"}, {"/train/labels"}},
                .test = SplitPlan{{"/test/images"}, {"/test/labels"}},
                .axes = Axes::nchw,
                .classes = static_cast<int>(*count),
                .ours = true};
}

}  // namespace wasp
