// Rectified linear units, in place.
#include "lanes.hpp"
#include "table.hpp"

namespace wasp::SIMD {

void relu(const Planes& y) {
    for (int c = 0; c < y.channels; ++c)
        for (int row = 0; row < y.height; ++row) {
            Vector* line = vectors(y.data + c * y.plane + row * y.row);
            for (int i = 0; i < y.width; ++i) line[i] = line[i] < 0.0F ? Vector{} : line[i];
        }
}

void relu_gradient(const Planes& y, const Planes& dy) {
    for (int c = 0; c < y.channels; ++c)
        for (int row = 0; row < y.height; ++row) {
            const Vector* line = vectors(y.data + c * y.plane + row * y.row);
            Vector* d = vectors(dy.data + c * dy.plane + row * dy.row);
            for (int i = 0; i < y.width; ++i) d[i] = line[i] > 0.0F ? d[i] : Vector{};
        }
}

}  // namespace wasp::SIMD
