/// y = W·x + b over the flattened input.   Weights (O,I), bias (O).
#pragma once

#include "layer.hpp"

namespace wasp::nn {

class Linear : public Layer {
public:
    Linear(std::string name, Shape in, int outputs);
    void forward(const Work& work) const override;
    void backward(const Work& work) const override;
    std::vector<ParameterShape> parameters() const override;
    double multiplications() const override;
    bool needs_input() const override { return true; }
    bool over_many_groups() const override { return true; }  // each weight then meets more images
    std::size_t memo_floats(const Kernels& kernels) const override;

private:
    std::string name_;
};

}  // namespace wasp::nn
