/// The largest of each K × K window, stride K. Its gradient goes to the first of them, as in
/// PyTorch.
#pragma once

#include "layer.hpp"

namespace wasp::nn {

class MaxPooling : public Layer {
public:
    MaxPooling(Shape in, int window);
    void forward(const Work& work) const override;
    void backward(const Work& work) const override;
    std::size_t memo_floats(const Kernels& kernels) const override;

private:
    float* winners(const Work& work, int group) const;

    int window_;
};

}  // namespace wasp::nn
