/// The learning rate as a function of how far the run is.
#pragma once

#include <string>
#include <string_view>

namespace wasp {

/// "constant" | "step:every=E,factor=F" (epochs) | "cosine[:floor=X]" | "poly[:power=P]"; before
/// all of them a linear warm-up. Source: cosine: Loshchilov and Hutter 2017, eq. 5, one cycle;
/// warm-up: Goyal et al. 2017.
class LearningRate {
public:
    /// Error: malformed spec.   warmup_epochs: length of the linear start from base/10 … base.
    LearningRate(std::string_view spec, double base, double warmup_epochs, double total_epochs);
    double at(
        double epoch) const;  ///< epoch: with fraction, counted over the samples of all workers

private:
    enum class Kind { constant, step, cosine, poly };
    Kind kind_;
    double base_, warmup_, total_;
    double every_ = 1, factor_ = 0.1, floor_ = 0, power_ = 2;
};

}  // namespace wasp
