#include <cmath>

#include "activation.hpp"

namespace wasp::nn {

namespace {

/// body(row of planes, floats) for each row.
template <class Body>
void for_each_row(const Activations& activations, Body body) {
    for (int group = 0; group < activations.groups; ++group) {
        const Planes planes = activations.planes(group);
        for (int c = 0; c < planes.channels; ++c)
            for (int h = 0; h < planes.height; ++h)
                body(group, c * planes.plane + h * planes.row, planes.width * activations.lanes);
    }
}

}  // namespace

void Tanh::forward(const Work& work) const {
    for_each_row(work.y, [&](int group, std::ptrdiff_t row, int floats) {
        float* y = work.y.planes(group).data + row;
        for (int i = 0; i < floats; ++i) y[i] = std::tanh(y[i]);
    });
}

void Tanh::backward(const Work& work) const {
    for_each_row(work.y, [&](int group, std::ptrdiff_t row, int floats) {
        const float* y = work.y.planes(group).data + row;
        float* dy = work.dy.planes(group).data + row;
        for (int i = 0; i < floats; ++i) dy[i] *= 1 - y[i] * y[i];
    });
}

}  // namespace wasp::nn
