#include "activation.hpp"

namespace wasp::nn {

void Relu::forward(const Work& work) const {
    for (int group = 0; group < work.y.groups; ++group) work.kernels.relu(work.y.planes(group));
}

void Relu::backward(const Work& work) const {
    for (int group = 0; group < work.y.groups; ++group)
        work.kernels.relu_gradient(work.y.planes(group), work.dy.planes(group));
}

}  // namespace wasp::nn
