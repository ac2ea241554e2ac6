#include "mean_pooling.hpp"

namespace wasp::nn {

MeanPooling::MeanPooling(Shape in, int window)
    : Layer(in, {in.channels, in.height / window, in.width / window}), window_(window) {}

void MeanPooling::forward(const Work& work) const {
    for (int group = 0; group < work.x.groups; ++group)
        work.kernels.mean_pooling(work.x.planes(group), window_, work.y.planes(group));
}

void MeanPooling::backward(const Work& work) const {
    for (int group = 0; group < work.x.groups; ++group)
        work.kernels.mean_pooling_gradient(work.dy.planes(group), window_, work.dx.planes(group));
}

}  // namespace wasp::nn
