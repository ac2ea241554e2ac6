#include "protocols/learning_rate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/spec.hpp"

namespace wasp {

namespace {

constexpr std::array<std::string_view, 4> names{"constant", "step", "cosine", "poly"};
constexpr double warmup_start = 0.1;  // of the base

}  // namespace

LearningRate::LearningRate(std::string_view spec, double base, double warmup_epochs,
                           double total_epochs)
    : base_(base), warmup_(warmup_epochs), total_(total_epochs) {
    Spec keys(spec);
    const auto* const found = std::ranges::find(names, keys.name());
    REQUIRE(found != names.end(), "{}", unknown_name("learning-rate schedule", keys.name(), names));
    kind_ = static_cast<Kind>(found - names.begin());
    const double most = std::numeric_limits<double>::max();
    if (kind_ == Kind::step) {
        REQUIRE(keys.has("every"), "'{}': step needs every=EPOCHS", spec);
        every_ = keys.number("every", every_, 1e-6, most);
        factor_ = keys.number("factor", factor_, 0, 1);
    }
    if (kind_ == Kind::cosine) floor_ = keys.number("floor", floor_, 0, base);
    if (kind_ == Kind::poly) power_ = keys.number("power", power_, 0, 100);
    keys.done();
}

double LearningRate::at(double epoch) const {
    if (epoch < warmup_)
        return base_ * (warmup_start + (1 - warmup_start) * std::max(epoch, 0.0) / warmup_);
    const double length = total_ - warmup_;
    const double passed = length > 0 ? std::clamp((epoch - warmup_) / length, 0.0, 1.0) : 0;
    switch (kind_) {
        case Kind::step:
            return base_ * std::pow(factor_, std::floor(epoch / every_));
        case Kind::cosine:
            return floor_ + (base_ - floor_) / 2 * (1 + std::cos(std::numbers::pi * passed));
        case Kind::poly:
            return base_ * std::pow(1 - passed, power_);
        case Kind::constant:
            break;
    }
    return base_;
}

}  // namespace wasp
