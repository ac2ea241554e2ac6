/// The mean of each K × K window, stride K.
#pragma once

#include "layer.hpp"

namespace wasp::nn {

class MeanPooling : public Layer {
public:
    MeanPooling(Shape in, int window);
    void forward(const Work& work) const override;
    void backward(const Work& work) const override;

private:
    int window_;
};

}  // namespace wasp::nn
