/// Element-wise functions, in place. Their derivatives are functions of their outputs.
#pragma once

#include "layer.hpp"

namespace wasp::nn {

class Activation : public Layer {
public:
    explicit Activation(Shape shape) : Layer(shape, shape) {}
    bool in_place() const override { return true; }
    bool needs_output() const override { return true; }
};

class Relu : public Activation {
public:
    using Activation::Activation;
    void forward(const Work& work) const override;
    void backward(const Work& work) const override;
};

class Tanh : public Activation {
public:
    using Activation::Activation;
    void forward(const Work& work) const override;
    void backward(const Work& work) const override;
};

}  // namespace wasp::nn
