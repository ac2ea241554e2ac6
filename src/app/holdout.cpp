#include "holdout.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/random.hpp"

namespace wasp {

Holdout hold_out(std::size_t images, std::size_t count, std::uint64_t seed) {
    REQUIRE(count < images, "--validation {}: there are only {} training images", count, images);
    Holdout parts;
    parts.train.resize(images);
    std::iota(parts.train.begin(), parts.train.end(), 0U);
    if (count == 0) return parts;

    RandomStream random(seed, "validation");
    shuffle(parts.train, random);
    const auto rest = parts.train.end() - static_cast<std::ptrdiff_t>(count);
    parts.validation.assign(rest, parts.train.end());
    parts.train.erase(rest, parts.train.end());
    std::ranges::sort(parts.train);
    std::ranges::sort(parts.validation);
    return parts;
}

}  // namespace wasp
