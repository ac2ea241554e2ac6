// The update against the formulas of torch.optim.SGD, written out element by element in double.
#include "protocols/sgd.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tensor/vector_ops.hpp"

namespace wasp {
namespace {

constexpr std::size_t n = 20'001;  // more than one grain of threads, and a ragged end

/// torch.optim.SGD of one weight: d = g + λ·x; b = μ·b + d; d = nesterov ? d + μ·b : b; x −= η·d.
struct TorchSgd {
    SgdSetup setup;
    double rate, buffer = 0;
    void step(double g, double& x) {
        double d = g + static_cast<double>(setup.weight_decay) * x;
        buffer = static_cast<double>(setup.momentum) * buffer + d;
        d = setup.nesterov ? d + static_cast<double>(setup.momentum) * buffer : buffer;
        x -= rate * d;
    }
};

float gradient(std::size_t i, int step, double x) {
    return static_cast<float>(std::sin(static_cast<double>(i) * 0.1 + step) + 0.5 * x);
}

void same_as_torch(const SgdSetup& setup) {
    Sgd sgd(n, setup);
    sgd.set_learning_rate(0.05F);
    std::vector<float> x(n, 0.25F), g(n);
    std::vector<TorchSgd> torch(n, TorchSgd{setup, static_cast<double>(0.05F)});
    std::vector<double> expected(n, 0.25);
    for (int step = 0; step < 20; ++step) {
        for (std::size_t i = 0; i < n; ++i) {
            g[i] = gradient(i, step, static_cast<double>(x[i]));
            torch[i].step(static_cast<double>(gradient(i, step, expected[i])), expected[i]);
        }
        axpy(1.0F, sgd.update(g, x), x);
    }
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(x[i], expected[i], 2e-6) << "weight " << i;
}

TEST(Sgd, Plain) {
    same_as_torch({});
}
TEST(Sgd, Momentum) {
    same_as_torch({.momentum = 0.9F});
}
TEST(Sgd, WeightDecay) {
    same_as_torch({.momentum = 0.9F, .weight_decay = 0.01F});
}
TEST(Sgd, Nesterov) {
    same_as_torch({.momentum = 0.9F, .weight_decay = 0.01F, .nesterov = true});
}

TEST(Sgd, DecayReadsNoWeightsWhenItIsZero) {
    Sgd sgd(1, {});
    sgd.set_learning_rate(1.0F);
    const std::vector<float> g{2.0F}, x{std::numeric_limits<float>::infinity()};
    EXPECT_EQ(sgd.update(g, x)[0], -2.0F);
}

}  // namespace
}  // namespace wasp
