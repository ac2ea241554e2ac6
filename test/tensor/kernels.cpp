// Every fast kernel of every instruction set that this machine has, against the plain loops.
#include "tensor/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "lanes.hpp"

namespace wasp {
namespace {

using reference::Tensor;
using test::Lanes;
using test::random_tensor;
using test::random_values;
using test::relative_error;

constexpr double tolerance = 2e-6;  // of the norm: float32 sums in another order

class FastKernels : public testing::TestWithParam<std::string_view> {
protected:
    const Kernels& fast = kernels(GetParam());
};

struct Convolution {
    int images, inputs, outputs, height, width, kernel, padding;
};

std::ostream& operator<<(std::ostream& out, const Convolution& s) {
    return out << s.images << " images " << s.inputs << "→" << s.outputs << " channels " << s.height
               << "×" << s.width << " kernel " << s.kernel << " padding " << s.padding;
}

const Convolution convolutions[] = {
    {8, 1, 6, 28, 28, 5, 2},  {8, 6, 16, 14, 14, 5, 0}, {5, 20, 50, 12, 12, 5, 0},
    {1, 3, 7, 9, 11, 3, 1},   {7, 2, 1, 5, 5, 5, 0},    {3, 1, 1, 1, 1, 1, 0},
    {2, 4, 13, 6, 17, 7, 3},  {4, 5, 4, 8, 8, 4, 3},    {8, 3, 11, 1, 30, 1, 0},
    {2, 2, 3, 18, 17, 17, 1}, {1, 7, 9, 3, 3, 3, 2},
};

TEST_P(FastKernels, ConvolutionIsTheReference) {
    for (const auto& s : convolutions) {
        SCOPED_TRACE(testing::PrintToString(s));
        const Tensor x = random_tensor(s.images, s.inputs, s.height, s.width, 1);
        const Tensor weights = random_tensor(s.outputs, s.inputs, s.kernel, s.kernel, 2);
        const auto bias = random_values(s.outputs, 3);
        const Tensor expected = reference::convolution(x, weights, bias, s.padding);
        for (const int halo : {s.padding, s.padding + 1}) {
            Lanes in(x, halo, fast.lanes);
            Lanes out(s.images, s.outputs, expected.height, expected.width, halo, fast.lanes);
            fast.convolution(in.planes(), test::floats(weights.values).data(),
                             test::floats(bias).data(), s.kernel, s.padding, out.planes());
            EXPECT_LE(relative_error(out.tensor().values, expected.values), tolerance);
        }
    }
}

TEST_P(FastKernels, ConvolutionGradientsAreTheReference) {
    for (const auto& s : convolutions) {
        SCOPED_TRACE(testing::PrintToString(s));
        const Tensor x = random_tensor(s.images, s.inputs, s.height, s.width, 1);
        const Tensor weights = random_tensor(s.outputs, s.inputs, s.kernel, s.kernel, 2);
        const Tensor dy =
            random_tensor(s.images, s.outputs, s.height + 2 * s.padding - s.kernel + 1,
                          s.width + 2 * s.padding - s.kernel + 1, 4);
        const auto expected = reference::convolution_gradient(x, weights, dy, s.padding);

        // Lanes without an image hold something, but their gradient is zero.
        Lanes in(x, s.padding, fast.lanes, 3), gradient(dy, 1, fast.lanes);
        Lanes dx(s.images, s.inputs, s.height, s.width, s.padding, fast.lanes, 9);
        fast.convolution_input_gradient(gradient.planes(), test::floats(weights.values).data(),
                                        s.kernel, s.padding, dx.planes());
        EXPECT_LE(relative_error(dx.tensor().values, expected.input.values), tolerance);

        std::vector<float> dw(weights.values.size(), 1), db(expected.bias.size(), 1);
        fast.convolution_weight_gradient(in.planes(), gradient.planes(), s.kernel, s.padding,
                                         dw.data(), db.data());
        for (float& value : dw) value -= 1;
        for (float& value : db) value -= 1;
        EXPECT_LE(relative_error(dw, expected.weights.values), tolerance);
        EXPECT_LE(relative_error(db, expected.bias), tolerance);
    }
}

TEST_P(FastKernels, PoolingIsTheReference) {
    for (const int window : {1, 2, 3, 5})
        for (const int size : {5, 8, 11}) {
            SCOPED_TRACE(testing::Message() << "window " << window << " of " << size);
            Tensor x = random_tensor(5, 3, size, size + 1, 1);
            for (std::size_t i = 0; i < x.values.size(); i += 3) x.values[i] = 0.5;  // ties
            const Tensor dy = random_tensor(5, 3, size / window, (size + 1) / window, 2);
            Lanes in(x, 1, fast.lanes), gradient(dy, 2, fast.lanes);
            Lanes out(5, 3, dy.height, dy.width, 2, fast.lanes);
            Lanes dx(5, 3, size, size + 1, 1, fast.lanes, 9);
            AlignedFloats winners(static_cast<std::size_t>(3 * dy.height * dy.width * fast.lanes));

            fast.max_pooling(in.planes(), window, out.planes(), winners.data());
            EXPECT_EQ(out.tensor().values, reference::max_pooling(x, window).values);
            fast.max_pooling_gradient(gradient.planes(), winners.data(), window, dx.planes());
            EXPECT_EQ(dx.tensor().values, reference::max_pooling_gradient(x, dy, window).values);

            fast.mean_pooling(in.planes(), window, out.planes());
            EXPECT_LE(
                relative_error(out.tensor().values, reference::mean_pooling(x, window).values),
                tolerance);
            fast.mean_pooling_gradient(gradient.planes(), window, dx.planes());
            EXPECT_LE(relative_error(dx.tensor().values,
                                     reference::mean_pooling_gradient(x, dy, window).values),
                      tolerance);
        }
}

TEST_P(FastKernels, ReluIsTheReference) {
    const Tensor x = random_tensor(7, 3, 5, 6, 1), dy = random_tensor(7, 3, 5, 6, 2);
    const Tensor y = reference::relu(x);
    Lanes out(x, 2, fast.lanes), gradient(dy, 1, fast.lanes);
    fast.relu(out.planes());
    EXPECT_EQ(out.tensor().values, y.values);
    fast.relu_gradient(out.planes(), gradient.planes());
    EXPECT_EQ(gradient.tensor().values, reference::relu_gradient(y, dy).values);
}

TEST_P(FastKernels, LinearIsTheReference) {
    for (const int images : {1, 8, 17, 64, 130})
        for (const auto& [inputs, outputs] :
             {std::pair{1, 1}, {3, 2}, {84, 10}, {33, 47}, {400, 7}, {17, 120}}) {
            SCOPED_TRACE(testing::Message() << images << " images " << inputs << "→" << outputs);
            const Tensor x = random_tensor(images, inputs, 1, 1, 1);
            const Tensor weights = random_tensor(outputs, inputs, 1, 1, 2);
            const auto bias = random_values(outputs, 3);
            const Tensor dy = random_tensor(images, outputs, 1, 1, 4);
            const Tensor expected = reference::linear(x, weights, bias);
            const auto gradient = reference::linear_gradient(x, weights, dy);
            const auto w = test::floats(weights.values);

            Lanes in(x, 0, fast.lanes, 3), out(dy, 0, fast.lanes), d(dy, 0, fast.lanes);
            Lanes dx(images, inputs, 1, 1, 0, fast.lanes, 9);
            fast.multiply({w.data(), outputs, inputs, inputs, 1}, test::floats(bias).data(),
                          in.features(), out.features());
            EXPECT_LE(relative_error(out.tensor().values, expected.values), tolerance);
            fast.multiply({w.data(), inputs, outputs, 1, inputs}, nullptr, d.features(),
                          dx.features());
            EXPECT_LE(relative_error(dx.tensor().values, gradient.input.values), tolerance);

            std::vector<float> dw(w.size(), 1), db(bias.size(), 1);
            AlignedFloats scratch(fast.linear_scratch(inputs, in.groups()));
            for (const bool add : {false, true}) {
                fast.linear_weight_gradient(in.features(), d.features(), add, dw.data(), db.data(),
                                            scratch.data());
                const float times = add ? 2 : 1;
                for (float& value : dw) value /= times;
                for (float& value : db) value /= times;
                EXPECT_LE(relative_error(dw, gradient.weights.values), tolerance);
                EXPECT_LE(relative_error(db, gradient.bias), tolerance);
            }
        }
}

TEST_P(FastKernels, PixelsAreNormalisedIntoTheLanes) {
    for (const int width : {1, 7, 16, 28, 32, 45}) {
        SCOPED_TRACE(testing::Message() << "width " << width);
        const std::vector<float> scale{0.01F, 2}, shift{-1, 0.5F};
        const auto lanes = static_cast<std::size_t>(fast.lanes);
        const std::size_t pixels = 2 * 3 * static_cast<std::size_t>(width);
        std::vector<std::uint8_t> bytes(lanes * pixels);
        std::vector<float> numbers(lanes * pixels);
        RandomStream random(1, "pixels");
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = static_cast<std::uint8_t>(random.below(256));
            numbers[i] = static_cast<float>(random.uniform(-3, 3));
        }
        std::vector<const std::byte*> byte_images, number_images;
        for (std::size_t i = 0; i < lanes; ++i) {
            byte_images.push_back(reinterpret_cast<const std::byte*>(&bytes[i * pixels]));
            number_images.push_back(reinterpret_cast<const std::byte*>(&numbers[i * pixels]));
        }
        Lanes from_bytes(fast.lanes, 2, 3, width, 2, fast.lanes);
        Lanes from_numbers(fast.lanes, 2, 3, width, 0, fast.lanes);
        fast.load_uint8(byte_images.data(), scale.data(), shift.data(), from_bytes.planes());
        fast.load_float32(number_images.data(), scale.data(), shift.data(), from_numbers.planes());
        for (std::size_t n = 0, i = 0; n < lanes; ++n)
            for (int c = 0; c < 2; ++c)
                for (int h = 0; h < 3; ++h)
                    for (int w = 0; w < width; ++w, ++i) {
                        const auto channel = static_cast<std::size_t>(c);
                        ASSERT_NEAR(from_bytes.at(static_cast<int>(n), c, h, w),
                                    static_cast<float>(bytes[i]) * scale[channel] + shift[channel],
                                    1e-4);
                        ASSERT_NEAR(from_numbers.at(static_cast<int>(n), c, h, w),
                                    numbers[i] * scale[channel] + shift[channel], 1e-5);
                    }
    }
}

INSTANTIATE_TEST_SUITE_P(Cpu, FastKernels, testing::ValuesIn(kernel_names()),
                         [](const auto& set) { return std::string(set.param); });

TEST(Kernels, TheBestIsTakenUnlessOneIsNamed) {
    const auto names = kernel_names();
    ASSERT_FALSE(names.empty());
    EXPECT_EQ(kernels().name, names.back());
    for (const auto name : names) EXPECT_EQ(kernels(name).name, name);
    EXPECT_THROW(kernels("neon"), std::exception);
}

}  // namespace
}  // namespace wasp
