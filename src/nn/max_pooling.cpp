#include "max_pooling.hpp"

namespace wasp::nn {

MaxPooling::MaxPooling(Shape in, int window)
    : Layer(in, {in.channels, in.height / window, in.width / window}), window_(window) {}

std::size_t MaxPooling::memo_floats(const Kernels& kernels) const {
    return static_cast<std::size_t>(output.count() * kernels.lanes);
}

void MaxPooling::forward(const Work& work) const {
    for (int group = 0; group < work.x.groups; ++group)
        work.kernels.max_pooling(work.x.planes(group), window_, work.y.planes(group),
                                 work.memo + group * work.memo_step);
}

void MaxPooling::backward(const Work& work) const {
    for (int group = 0; group < work.x.groups; ++group)
        work.kernels.max_pooling_gradient(work.dy.planes(group), work.memo + group * work.memo_step,
                                          window_, work.dx.planes(group));
}

}  // namespace wasp::nn
