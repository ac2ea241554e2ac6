#include "max_pooling.hpp"

namespace wasp {

MaxPooling::MaxPooling(Shape in, int window)
    : Layer(in, {in.channels, in.height / window, in.width / window}), window_(window) {}

std::size_t MaxPooling::memo_floats(const Kernels& kernels) const {
    static_assert(sizeof(float) == sizeof(std::int32_t));
    return static_cast<std::size_t>(output.count() * kernels.lanes);
}

std::int32_t* MaxPooling::winners(const Work& work, int group) const {
    return reinterpret_cast<std::int32_t*>(work.memo + group * work.memo_step);
}

void MaxPooling::forward(const Work& work) const {
    for (int group = 0; group < work.x.groups; ++group)
        work.kernels.max_pooling(work.x.planes(group), window_, work.y.planes(group),
                                 winners(work, group));
}

void MaxPooling::backward(const Work& work) const {
    for (int group = 0; group < work.x.groups; ++group)
        work.kernels.max_pooling_gradient(work.dy.planes(group), winners(work, group), window_,
                                          work.dx.planes(group));
}

}  // namespace wasp
