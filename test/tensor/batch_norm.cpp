// Batch normalisation and its neighbours in every layout and on every instruction set, against the
// plain loops.
#include "tensor/batch_norm.hpp"

#include <gtest/gtest.h>

#include <fmt/core.h>

#include <numeric>

#include "in_layout.hpp"
#include "tensor/activation_ops.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {
namespace {

using reference::Tensor;
using test::floats;
using test::InLayout;
using test::random_tensor;
using test::random_values;
using test::relative_error;

struct Way {
    std::string_view simd;
    ActivationLayout layout;
};

std::vector<Way> ways() {
    std::vector<Way> ways;
    for (const auto simd : kernel_names())
        for (const auto precision : {Precision::float32, Precision::bf16}) {
            const int lanes = kernels(simd).lanes;
            ways.push_back({simd, {ActivationOrder::blocks, lanes, precision}});
            ways.push_back({simd, {ActivationOrder::channels_last, lanes, precision}});
            if (precision == Precision::float32) ways.push_back({simd, {}});
        }
    return ways;
}

std::string name_of(const testing::TestParamInfo<Way>& way) {
    const auto& [simd, layout] = way.param;
    return std::string(simd) + test::name_of(layout.order) +
           (layout.precision == Precision::bf16 ? "_bf16" : "");
}

struct Size {
    int images, channels, height, width;
};
const Size sizes[] = {{4, 32, 8, 8},   {3, 16, 5, 7}, {7, 48, 1, 1},
                      {2, 16, 33, 40}, {1, 64, 2, 3}, {2, 128, 5, 4}};

class BatchNorms : public testing::TestWithParam<Way> {
protected:
    ~BatchNorms() override { use_threads(1); }

    ActivationLayout layout() const { return GetParam().layout; }
    bool is_bf16() const { return layout().precision == Precision::bf16; }
    double tolerance() const { return is_bf16() ? 4e-3 : 3e-6; }  // of the result's rounding

    /// What the layout's precision makes of a tensor.
    Tensor rounded(const Tensor& tensor) const { return InLayout(layout(), tensor).tensor(); }
    Tensor random(const Size& s, std::uint64_t seed) const {
        return rounded(random_tensor(s.images, s.channels, s.height, s.width, seed));
    }
    BatchNorm make(const Size& s) const { return {kernels(GetParam().simd), layout(), s.channels}; }

    /// For 1 thread, and for more threads than groups of channels.
    template <class Body>
    void for_each_size(Body body) {
        for (const int threads : {1, 3, 7})
            for (const auto& s : sizes) {
                SCOPED_TRACE(fmt::format("{} images {} channels {}×{}, {} threads", s.images,
                                         s.channels, s.height, s.width, threads));
                use_threads(threads);
                body(s);
            }
    }
};

Tensor sum_of(const Tensor& a, const Tensor& b) {
    Tensor sum = a;
    for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += b.values[i];
    return sum;
}

TEST_P(BatchNorms, ForwardIsTheReference) {
    for_each_size([&](const Size& s) {
        const Tensor x = random(s, 1), residual = random(s, 2);
        const auto gamma = random_values(s.channels, 3), beta = random_values(s.channels, 4);
        const auto g = floats(gamma), b = floats(beta);
        const Tensor normal = reference::batch_norm(x, gamma, beta);
        for (const bool add : {false, true})
            for (const bool relu : {false, true}) {
                Tensor expected = add ? sum_of(normal, residual) : normal;
                if (relu) expected = reference::relu(expected);
                InLayout in(layout(), x), extra(layout(), residual), out(layout(), x);
                std::vector<float> mean(g.size()), variance(g.size(), 1);
                auto norm = make(s);
                norm.forward({.images = s.images,
                              .pixels = s.height * s.width,
                              .x = in.data(),
                              .residual = add ? extra.data() : nullptr,
                              .relu = relu,
                              .y = out.data()},
                             {g, b}, {mean, variance});
                EXPECT_LE(relative_error(out.tensor().values, expected.values), tolerance());
            }
    });
}

TEST_P(BatchNorms, RunningStatisticsMoveATenthOfTheWayAndServeInference) {
    for_each_size([&](const Size& s) {
        const Tensor x = random(s, 1);
        const std::vector<float> gamma(static_cast<std::size_t>(s.channels), 2),
            beta(gamma.size(), -0.5F);
        std::vector<float> mean(gamma.size(), 3), variance(gamma.size(), 5);
        InLayout in(layout(), x), out(layout(), x);
        const BatchNorm::Forward work{.images = s.images,
                                      .pixels = s.height * s.width,
                                      .x = in.data(),
                                      .relu = false,
                                      .y = out.data()};
        auto norm = make(s);
        norm.forward(work, {gamma, beta}, {mean, variance});
        const double count = s.images * s.height * s.width;
        std::vector<double> expected_mean, expected_variance;
        for (int c = 0; c < s.channels; ++c) {
            double sum = 0, squares = 0;
            const auto each = [&](auto body) {
                for (int n = 0; n < s.images; ++n)
                    for (int h = 0; h < s.height; ++h)
                        for (int w = 0; w < s.width; ++w) body(x.at(n, c, h, w));
            };
            each([&](double value) { sum += value; });
            each([&](double value) { squares += std::pow(value - sum / count, 2); });
            expected_mean.push_back(0.9 * 3 + 0.1 * sum / count);
            expected_variance.push_back(0.9 * 5 + 0.1 * squares / (count > 1 ? count - 1 : count));
        }
        EXPECT_LE(relative_error(mean, expected_mean), 1e-6);
        EXPECT_LE(relative_error(variance, expected_variance), 1e-6);

        norm.inference(work, {gamma, beta}, {mean, variance});
        Tensor expected = x;
        const auto area = static_cast<std::size_t>(s.height * s.width);
        for (std::size_t i = 0; i < x.values.size(); ++i) {
            const std::size_t c = i / area % gamma.size();
            expected.values[i] =
                (x.values[i] - expected_mean[c]) / std::sqrt(expected_variance[c] + 1e-5) * 2 - 0.5;
        }
        EXPECT_LE(relative_error(out.tensor().values, expected.values), tolerance());
    });
}

TEST_P(BatchNorms, LargeMeansDoNotCancel) {
    const Size s{8, 16, 9, 9};
    Tensor x = random_tensor(8, 16, 9, 9, 1);
    for (double& value : x.values) value = 1000 + std::round(value * 8);
    const Tensor exact = rounded(x);  // bf16 holds multiples of 4 there
    const std::vector<double> gamma(16, 1), beta(16, 0);
    InLayout in(layout(), exact), out(layout(), exact);
    const std::vector<float> g(16, 1), b(16, 0);
    std::vector<float> mean(16), variance(16);
    auto norm = make(s);
    norm.forward({.images = 8, .pixels = 81, .x = in.data(), .relu = false, .y = out.data()},
                 {g, b}, {mean, variance});
    // shift = β − μ·scale has an error of 1000 roundings.
    EXPECT_LE(relative_error(out.tensor().values, reference::batch_norm(exact, gamma, beta).values),
              is_bf16() ? 4e-3 : 1e-4);
}

/// dx, dγ, dβ of norm and ReLU with or without a residual, whose gradient is dz.
TEST_P(BatchNorms, BackwardIsTheReference) {
    for_each_size([&](const Size& s) {
        const Tensor x = random(s, 1), residual = random(s, 2), dy = random(s, 5),
                     more = random(s, 6);
        const auto gamma = random_values(s.channels, 3), beta = random_values(s.channels, 4);
        const auto g = floats(gamma), b = floats(beta);
        const Tensor normal = reference::batch_norm(x, gamma, beta);
        struct Case {
            bool relu, add, two_terms;
        };
        for (const auto& [relu, add, two_terms] : {Case{false, false, false},
                                                   {true, false, false},
                                                   {true, true, false},
                                                   {true, true, true}}) {
            SCOPED_TRACE(fmt::format("relu {} residual {} two terms {}", relu, add, two_terms));
            InLayout in(layout(), x), extra(layout(), residual), out(layout(), x);
            InLayout gradient(layout(), dy), other(layout(), more), dx(layout(), dy);
            std::vector<float> mean(g.size()), variance(g.size(), 1), dg(g.size()), db(g.size());
            auto norm = make(s);
            norm.forward({.images = s.images,
                          .pixels = s.height * s.width,
                          .x = in.data(),
                          .residual = add ? extra.data() : nullptr,
                          .relu = relu,
                          .y = out.data()},
                         {g, b}, {mean, variance});

            const Tensor before = add ? sum_of(normal, residual) : normal;
            const Tensor sum = two_terms ? rounded(sum_of(dy, more)) : dy;
            const Tensor dz = relu ? reference::relu_gradient(reference::relu(before), sum) : sum;
            const auto expected = reference::batch_norm_gradient(x, gamma, dz);

            norm.backward({.images = s.images,
                           .pixels = s.height * s.width,
                           .x = in.data(),
                           .relu = relu,
                           .y = add ? out.data() : nullptr,
                           .dy = gradient.data(),
                           .more = two_terms ? other.data() : nullptr,
                           .dx = add ? dx.data() : gradient.data()},
                          g, {dg, db});
            // A channel of one element has no gradient but roundings; elsewhere by norm.
            const double scale = s.images * s.height * s.width > 1 ? 1 : 0;
            Tensor got = (add ? dx : gradient).tensor();
            if (scale > 0) {
                EXPECT_LE(relative_error(got.values, expected.input.values),
                          is_bf16() ? 1e-2 : 2e-5);
                EXPECT_LE(relative_error(dg, expected.gamma), is_bf16() ? 1e-2 : 1e-5);
            }
            EXPECT_LE(relative_error(db, expected.beta), is_bf16() ? 1e-2 : 1e-5);
            if (add) {
                EXPECT_LE(relative_error(gradient.tensor().values, dz.values), tolerance());
            }
        }
    });
}

TEST_P(BatchNorms, GlobalMeanAndItsGradient) {
    for_each_size([&](const Size& s) {
        const Tensor x = random(s, 1);
        const ActivationShape shape{s.images, s.channels, s.height * s.width};
        std::vector<float> means(static_cast<std::size_t>(s.images * s.channels));
        InLayout in(layout(), x), out(layout(), x);
        global_mean(layout(), shape, in.data(), means.data());
        const auto area = static_cast<std::size_t>(shape.pixels);
        Tensor spread = x;
        for (std::size_t i = 0; i < means.size(); ++i) {
            const auto plane = x.values.begin() + static_cast<std::ptrdiff_t>(i * area);
            const double mean =
                std::accumulate(plane, plane + shape.pixels, 0.0) / static_cast<double>(area);
            EXPECT_NEAR(means[i], mean, 1e-6);
            for (std::size_t p = 0; p < area; ++p)
                spread.values[i * area + p] = means[i] / static_cast<float>(area);
        }
        global_mean_gradient(layout(), shape, means.data(), out.data());
        EXPECT_LE(relative_error(out.tensor().values, spread.values), tolerance());
    });
}

TEST_P(BatchNorms, PaddedShortcutAndItsGradient) {
    for_each_size([&](const Size& s) {
        const Tensor x = random(s, 1);
        const int channels = 2 * s.channels;
        const Tensor y = reference::padded_shortcut(x, channels);
        const PaddedShortcut shape{s.images, s.channels, channels, s.height, s.width};
        const Tensor dy = rounded(random_tensor(s.images, channels, y.height, y.width, 2));
        InLayout in(layout(), x), out(layout(), y), gradient(layout(), dy), dx(layout(), x);
        padded_shortcut(layout(), shape, in.data(), out.data());
        EXPECT_EQ(out.tensor().values, y.values);
        padded_shortcut_gradient(layout(), shape, gradient.data(), dx.data());
        EXPECT_EQ(dx.tensor().values, reference::padded_shortcut_gradient(x, dy).values);
    });
}

INSTANTIATE_TEST_SUITE_P(Every, BatchNorms, testing::ValuesIn(ways()), name_of);

TEST(DenseLayer, IsTheReference) {
    const Tensor x = random_tensor(5, 70, 1, 1, 1), weights = random_tensor(11, 70, 1, 1, 2),
                 dy = random_tensor(5, 11, 1, 1, 4);
    const auto bias = random_values(11, 3);
    const auto fx = floats(x.values), fw = floats(weights.values), fdy = floats(dy.values);
    std::vector<float> y(55), dx(350), dw(770), db(11);
    dense({5, 70, 11}, fx.data(), fw.data(), floats(bias).data(), y.data());
    EXPECT_LE(relative_error(y, reference::linear(x, weights, bias).values), 2e-6);
    dense_gradient({5, 70, 11}, fx.data(), fw.data(), fdy.data(), dw.data(), db.data(), dx.data());
    const auto expected = reference::linear_gradient(x, weights, dy);
    EXPECT_LE(relative_error(dw, expected.weights.values), 2e-6);
    EXPECT_LE(relative_error(db, expected.bias), 2e-6);
    EXPECT_LE(relative_error(dx, expected.input.values), 2e-6);
}

}  // namespace
}  // namespace wasp
