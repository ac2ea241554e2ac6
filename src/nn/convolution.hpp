/// Convolution of stride 1 with a K × K kernel and zero padding.   Weights (O,I,K,K), bias (O).
#pragma once

#include "layer.hpp"

namespace wasp::nn {

class Convolution : public Layer {
public:
    Convolution(std::string name, Shape in, int outputs, int kernel, int padding);
    void forward(const Work& work) const override;
    void backward(const Work& work) const override;
    std::vector<ParameterShape> parameters() const override;
    double multiplications() const override;
    bool needs_input() const override { return true; }
    int halo() const override { return padding_; }

private:
    std::size_t weight_count() const;

    std::string name_;
    int kernel_, padding_;
};

}  // namespace wasp::nn
