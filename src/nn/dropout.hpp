/// Inverted dropout: in training each element is 0 with probability p, else divided by 1 − p; in
/// inference nothing happens.   Source: Srivastava et al. 2014.
#pragma once

#include "layer.hpp"

namespace wasp::nn {

class Dropout : public Layer {
public:
    /// probability: in [0, 1). The elements dropped depend on seed, step and the image's place in
    /// the mini-batch alone, not on lanes or threads.
    Dropout(Shape shape, double probability, std::uint64_t seed);
    void forward(const Work& work) const override;
    void backward(const Work& work) const override;
    bool over_many_groups() const override { return true; }
    std::size_t memo_floats(const Kernels& kernels) const override;

private:
    double probability_;
    std::uint64_t seed_;
};

}  // namespace wasp::nn
