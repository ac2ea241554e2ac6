// neon: `input` (N,C·H·W) whose attribute `lshape` is (C,H,W), and `output` (N,1).
// Source: NervanaSystems/neon, neon/data/hdf5iterator.py.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "layout.hpp"

namespace wasp {

std::optional<Plan> recognise_neon(const h5::File& file) {
    if (!file.has("/input") || !file.has("/output")) return std::nullopt;
    Plan plan{.layout = "neon, one split", .train = {{"/input"}, {"/output"}}};
    const auto sides = file.numbers("/input", "lshape");
    if (sides) {
        const auto sound = [](double side) {
            return side >= 1 && side <= 8192 && std::trunc(side) == side;
        };
        REQUIRE(sides->size() == 3 && std::ranges::all_of(*sides, sound),
                "{}: /input: attribute 'lshape' is not the three sides of an image",
                file.path().string());
        plan.image = ImageShape{static_cast<int>((*sides)[0]), static_cast<int>((*sides)[1]),
                                static_cast<int>((*sides)[2])};
    }
    const auto classes = file.numbers("/output", "nclass");
    constexpr double most_classes = 65'536;
    if (classes && classes->size() == 1 && classes->front() >= 1 &&
        classes->front() <= most_classes)
        plan.classes = static_cast<int>(classes->front());
    return plan;
}

}  // namespace wasp
