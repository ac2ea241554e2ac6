// Ours, as 'wasp data import' writes it: see docs/DATA.md.
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "layout.hpp"
#include "own_file.hpp"

namespace wasp {

namespace {

/// Empty: there is none, or it is not one whole number.
std::optional<std::int64_t> whole_attribute(const h5::File& file, const std::string& name) {
    const auto numbers = file.numbers("/", name);
    constexpr double exact = 0x1p53;
    if (!numbers || numbers->size() != 1) return std::nullopt;
    const double number = numbers->front();
    if (std::trunc(number) != number || std::abs(number) > exact) return std::nullopt;
    return static_cast<std::int64_t>(number);
}

}  // namespace

std::optional<Plan> recognise_own(const h5::File& file) {
    if (!file.has("/train/images") || !file.has_attribute("/", "format_version"))
        return std::nullopt;
    const auto path = file.path().string();
    REQUIRE(whole_attribute(file, "format_version") == own_format_version,
            "{}: attribute 'format_version' is not {}, which this program knows; use the wasp that "
            "wrote it",
            path, own_format_version);
    const auto classes = whole_attribute(file, "classes");
    REQUIRE(classes && *classes >= 1 && *classes <= largest_class_count,
            "{}: attribute 'classes' must be a whole number from 1 to {}", path,
            largest_class_count);
    return Plan{.layout = "wasp",
                .train = {{"/train/images"}, {"/train/labels"}},
                .test = SplitPlan{{"/test/images"}, {"/test/labels"}},
                .axes = "nchw",
                .classes = static_cast<int>(*classes),
                .ours = true};
}

}  // namespace wasp
