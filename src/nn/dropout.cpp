#include "dropout.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace wasp::nn {

Dropout::Dropout(Shape shape, double probability, std::uint64_t seed)
    : Layer(shape, shape), probability_(probability), seed_(seed) {}

std::size_t Dropout::memo_floats(const Kernels& kernels) const {
    return static_cast<std::size_t>(output.count() * kernels.lanes);
}

void Dropout::forward(const Work& work) const {
    const int lanes = work.kernels.lanes, count = output.count();
    const auto kept = static_cast<float>(1 / (1 - probability_));
    const Features x = work.x.features(), y = work.y.features();
    for (int group = 0; group < x.groups; ++group) {
        const float* from = x.data + group * x.group_step;
        float* to = y.data + group * y.group_step;
        float* mask = work.memo + group * work.memo_step;
        if (!work.training) {
            std::copy_n(from, count * lanes, to);
            continue;
        }
        for (int lane = 0; lane < lanes; ++lane) {
            const std::int64_t image = work.first_image + group * lanes + lane;
            RandomStream random(seed_, "dropout", image, work.step);
            for (int i = lane; i < count * lanes; i += lanes)
                mask[i] = random.uniform() < probability_ ? 0 : kept;
        }
        for (int i = 0; i < count * lanes; ++i) to[i] = from[i] * mask[i];
    }
}

void Dropout::backward(const Work& work) const {
    const int floats = output.count() * work.kernels.lanes;
    for (int group = 0; group < work.dy.groups; ++group) {
        const float* dy = work.dy.data + group * work.dy.group_step;
        const float* mask = work.memo + group * work.memo_step;
        float* dx = work.dx.data + group * work.dx.group_step;
        for (int i = 0; i < floats; ++i) dx[i] = dy[i] * mask[i];
    }
}

}  // namespace wasp::nn
