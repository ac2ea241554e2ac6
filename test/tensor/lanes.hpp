/// Tensors of the reference kernels in the layout of the fast ones, and back.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "../../src/tensor/reference.hpp"
#include "base/aligned.hpp"
#include "base/random.hpp"
#include "tensor/kernels.hpp"

namespace wasp::test {

using reference::Tensor;

inline Tensor random_tensor(int images, int channels, int height, int width, std::uint64_t seed) {
    Tensor tensor(images, channels, height, width);
    RandomStream random(seed, "test");
    for (double& value : tensor.values) value = static_cast<float>(random.uniform(-0.5, 1));
    return tensor;
}

inline std::vector<double> random_values(int count, std::uint64_t seed) {
    return random_tensor(1, count, 1, 1, seed).values;
}

inline std::vector<float> floats(const std::vector<double>& values) {
    return {values.begin(), values.end()};
}

/// |a − b| / |b|, over all elements.
template <class A, class B>
double relative_error(const A& a, const B& b) {
    EXPECT_EQ(a.size(), b.size());
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        error += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
        norm += std::pow(static_cast<double>(b[i]), 2);
    }
    return norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
}

/// Activations of any number of lane groups. Lanes without an image hold `rest`; the halo is zero.
class Lanes {
public:
    Lanes(int images, int channels, int height, int width, int halo, int lanes, float rest = 0)
        : images_(images),
          lanes_(lanes),
          groups_((images + lanes - 1) / lanes),
          row_(std::ptrdiff_t{width + 2 * halo} * lanes),
          plane_(row_ * (height + 2 * halo)),
          memory_(static_cast<std::size_t>(groups_ * channels * plane_)),
          shape_{channels, height, width, halo} {
        for (int n = 0; n < groups_ * lanes; ++n) fill(n, rest);
    }
    Lanes(const Tensor& tensor, int halo, int lanes, float rest = 0)
        : Lanes(tensor.images, tensor.channels, tensor.height, tensor.width, halo, lanes, rest) {
        for_each([&](int n, int c, int h, int w) {
            at(n, c, h, w) = static_cast<float>(tensor.at(n, c, h, w));
        });
    }

    int groups() const { return groups_; }
    Planes planes(int group = 0) {
        return {memory_.data() + group * shape_.channels * plane_ + shape_.halo * (row_ + lanes_),
                shape_.channels,
                shape_.height,
                shape_.width,
                plane_,
                row_};
    }
    Features features() {
        return {memory_.data(), shape_.channels * shape_.height * shape_.width, groups_,
                shape_.channels * plane_};
    }
    Tensor tensor() {
        Tensor out(images_, shape_.channels, shape_.height, shape_.width);
        for_each([&](int n, int c, int h, int w) { out.at(n, c, h, w) = at(n, c, h, w); });
        return out;
    }
    float& at(int n, int c, int h, int w) {
        const Planes p = planes(n / lanes_);
        return p.data[c * p.plane + h * p.row + w * lanes_ + n % lanes_];
    }

private:
    struct Shape {
        int channels, height, width, halo;
    };

    template <class Body>
    void for_each(Body body) {
        for (int n = 0; n < images_; ++n) for_each_of(n, body);
    }
    template <class Body>
    void for_each_of(int n, Body body) {
        for (int c = 0; c < shape_.channels; ++c)
            for (int h = 0; h < shape_.height; ++h)
                for (int w = 0; w < shape_.width; ++w) body(n, c, h, w);
    }
    void fill(int n, float value) {
        for_each_of(n, [&](int, int c, int h, int w) { at(n, c, h, w) = value; });
    }

    int images_, lanes_, groups_;
    std::ptrdiff_t row_, plane_;
    AlignedFloats memory_;
    Shape shape_;
};

}  // namespace wasp::test
