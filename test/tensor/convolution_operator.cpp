// Convolutions of every library, instruction set and algorithm, against the plain loops.
#include "tensor/convolution_operator.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/huge_buffer.hpp"
#include "in_layout.hpp"
#include "tensor/parallel.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {
namespace {

using reference::Tensor;
using test::floats;
using test::InLayout;
using test::random_tensor;
using test::relative_error;

struct Way {
    std::string_view simd;
    ConvolutionLibrary library;
    ConvolutionAlgorithm algorithm = ConvolutionAlgorithm::direct;
    ActivationLayout layout = {};  // order and precision

    bool has(Precision precision) const { return layout.precision == precision; }
    bool has(ActivationOrder order) const { return layout.order == order; }
};

std::vector<Way> ways() {
    using enum ConvolutionAlgorithm;
    std::vector<Way> ways;
    for (const auto simd : kernel_names())
        for (const auto precision : {Precision::float32, Precision::bf16})
            for (const auto library : convolution_libraries(kernels(simd), precision)) {
                if (library == ConvolutionLibrary::openblas) {
                    ways.push_back({.simd = simd, .library = library});
                    continue;
                }
                const auto add = [&](ActivationOrder order, ConvolutionAlgorithm algorithm) {
                    ways.push_back(
                        {simd, library, algorithm, {order, kernels(simd).lanes, precision}});
                };
                add(ActivationOrder::blocks, direct);
                if (simd == "avx512" && precision == Precision::float32)
                    add(ActivationOrder::blocks, winograd);
                for (const auto algorithm : {direct, product, turned, measured})
                    add(ActivationOrder::channels_last, algorithm);
            }
    return ways;
}

std::string name_of(const testing::TestParamInfo<Way>& way) {
    constexpr const char* algorithms[] = {"_measured", "", "_Winograd", "_product", "_turned"};
    const auto& [simd, library, algorithm, layout] = way.param;
    return std::string(simd) + (library == ConvolutionLibrary::onednn ? "_oneDNN" : "_OpenBLAS") +
           test::name_of(layout.order) + algorithms[static_cast<int>(algorithm)] +
           (layout.precision == Precision::bf16 ? "_bf16" : "");
}

ConvolutionShape shape(int inputs, int outputs, int height, int width, int kernel, int stride) {
    return {.images = 5,
            .inputs = inputs,
            .outputs = outputs,
            .height = height,
            .width = width,
            .kernel = kernel,
            .stride = stride};
}

const ConvolutionShape shapes[] = {
    shape(16, 16, 8, 8, 3, 1), shape(16, 32, 8, 8, 3, 2), shape(32, 16, 7, 9, 3, 1),
    shape(16, 32, 7, 9, 3, 2), shape(64, 32, 6, 5, 1, 1), shape(32, 64, 7, 5, 1, 2),
    shape(32, 32, 2, 2, 3, 1), shape(16, 16, 1, 1, 3, 1), shape(48, 16, 3, 1, 3, 2),
    shape(16, 48, 1, 1, 1, 1), shape(64, 64, 6, 5, 3, 1), shape(64, 16, 5, 6, 3, 2),
};

class Convolutions : public testing::TestWithParam<Way> {
protected:
    ~Convolutions() override { use_threads(1); }

    void expect_reference(const ConvolutionShape& s, int images) {
        SCOPED_TRACE(fmt::format("{}→{} {}×{} kernel {} stride {}, {} images", s.inputs, s.outputs,
                                 s.height, s.width, s.kernel, s.stride, images));
        const auto layout = engine->layout();
        const auto rounded = [&](const Tensor& tensor) {
            return InLayout(layout, tensor).tensor();
        };
        const Tensor x = rounded(random_tensor(images, s.inputs, s.height, s.width, 1));
        const Tensor weights = random_tensor(s.outputs, s.inputs, s.kernel, s.kernel, 2);
        const Tensor dy =
            rounded(random_tensor(images, s.outputs, s.output_height(), s.output_width(), 3));
        const Tensor y = reference::convolution(x, weights, {}, s.padding(), s.stride);
        const auto gradient =
            reference::convolution_gradient(x, weights, dy, s.padding(), s.stride);

        const auto convolution = engine->make(s, GetParam().algorithm);
        const auto flat = floats(weights.values);
        InLayout in(layout, x), out(layout, y), gradient_out(layout, dy), gradient_in(layout, x);
        convolution->forward(images, in.data(), flat.data(), out.data());
        EXPECT_LE(relative_error(out.tensor().values, y.values), tolerance());
        convolution->backward_data(images, gradient_out.data(), flat.data(), gradient_in.data());
        EXPECT_LE(relative_error(gradient_in.tensor().values, gradient.input.values), tolerance());
        std::vector<float> dw(s.weights(), NAN);
        convolution->backward_weights(images, in.data(), gradient_out.data(), dw.data());
        EXPECT_LE(relative_error(dw, gradient.weights.values), gradient_tolerance());
    }

    /// Of activations: in bf16 the weights are rounded, too, and what comes out. Gradients of
    /// weights are float32, of activations that we rounded ourselves.
    static double tolerance() {
        return GetParam().has(Precision::bf16) ? 4e-3 : gradient_tolerance();
    }
    static double gradient_tolerance() {
        return GetParam().algorithm == ConvolutionAlgorithm::winograd ? 1e-5 : 2e-6;
    }

    std::unique_ptr<ConvolutionEngine> engine =
        make_convolution_engine(GetParam().library, kernels(GetParam().simd),
                                GetParam().layout.precision, GetParam().layout.order);
};

TEST_P(Convolutions, AreTheReference) {
    for (const int threads : {1, 3}) {
        use_threads(threads);
        for (const auto& s : shapes) expect_reference(s, s.images);
    }
}

TEST_P(Convolutions, ReorderNoActivationsOnMapsOfThreePixelsOrMore) {
    for (const auto& s : shapes)
        if (s.height >= 3 && s.width >= 3) expect_reference(s, s.images);
    EXPECT_EQ(engine->activation_reorders(), 0U);
}

TEST_P(Convolutions, TakeSmallerBatches) {
    for (const auto& s : shapes) expect_reference(s, 2);
}

TEST_P(Convolutions, SurviveAnotherNumberOfThreads) {
    const auto s = shapes[0];
    const auto convolution = engine->make(s, GetParam().algorithm);
    const Tensor x = random_tensor(5, s.inputs, s.height, s.width, 1);
    const Tensor weights = random_tensor(s.outputs, s.inputs, 3, 3, 2);
    const Tensor expected = reference::convolution(x, weights, {}, 1);
    InLayout in(engine->layout(), x), out(engine->layout(), expected);
    for (const int threads : {1, 4, 2}) {
        use_threads(threads);
        convolution->forward(5, in.data(), floats(weights.values).data(), out.data());
        EXPECT_LE(relative_error(out.tensor().values, expected.values), tolerance()) << threads;
    }
}

TEST_P(Convolutions, OfPixels) {
    for (const int channels : {1, 3, 4}) {
        SCOPED_TRACE(channels);
        auto s = shape(channels, 16, 9, 7, 3, 1);
        s.of_pixels = true;
        const Tensor bytes = random_tensor(5, channels, 9, 7, 1);
        const std::vector<float> scale{0.5F, 2, 1, 3}, shift{0.25F, 0, -1, 2};
        std::vector<std::uint8_t> pixels;
        Tensor x(5, channels, 9, 7);
        for (std::size_t i = 0; i < bytes.values.size(); ++i) {
            pixels.push_back(static_cast<std::uint8_t>(100 * (bytes.values[i] + 0.5)));
            const auto c = i / 63 % static_cast<std::size_t>(channels);
            x.values[i] = pixels.back() * scale[c] + shift[c];
        }
        std::vector<const std::byte*> images;
        for (std::size_t i = 0; i < 5; ++i)
            images.push_back(reinterpret_cast<const std::byte*>(
                &pixels[i * 63 * static_cast<std::size_t>(channels)]));
        const std::vector<int> labels(5);
        const ImageShape image{channels, 9, 7};
        HugeBuffer in(engine->pixel_bytes(5, image));
        engine->load_pixels({.images = images, .labels = labels, .scale = scale, .shift = shift},
                            image, in.data());

        const Tensor weights = random_tensor(16, channels, 3, 3, 2);
        const Tensor dy = random_tensor(5, 16, 9, 7, 3);
        const Tensor y = reference::convolution(x, weights, {}, 1);
        const auto gradient = reference::convolution_gradient(x, weights, dy, 1);
        const auto convolution = engine->make(s, GetParam().algorithm);
        InLayout out(engine->layout(), y), gradient_out(engine->layout(), dy);
        convolution->forward(5, in.data(), floats(weights.values).data(), out.data());
        EXPECT_LE(relative_error(out.tensor().values, y.values), tolerance());
        std::vector<float> dw(s.weights(), NAN);
        convolution->backward_weights(5, in.data(), gradient_out.data(), dw.data());
        EXPECT_LE(relative_error(dw, gradient.weights.values), tolerance());
    }
}

TEST_P(Convolutions, WorkspaceIsNoMoreThanEstimated) {
    const std::size_t estimate = engine->estimate_workspace(shapes);
    for (const auto& s : shapes) engine->make(s, GetParam().algorithm);
    EXPECT_LE(engine->workspace_bytes(), estimate + 2 * (2U << 20U)) << "up to whole huge pages";
}

INSTANTIATE_TEST_SUITE_P(Every, Convolutions, testing::ValuesIn(ways()), name_of);

TEST(ConvolutionChoice, IsMeasuredOnceAndKept) {
    const auto libraries = convolution_libraries(kernels(), Precision::float32);
    if (libraries.front() != ConvolutionLibrary::onednn || kernels().lanes != 16)
        GTEST_SKIP() << "nothing to choose without oneDNN and AVX-512";
    const auto engine = make_convolution_engine(libraries.front(), kernels(), Precision::float32);
    auto s = shape(16, 16, 6, 6, 3, 1);
    s.images = 3;
    const std::size_t before = convolution_choices().size();
    engine->make(s, ConvolutionAlgorithm::measured);
    const auto choices = convolution_choices();
    ASSERT_EQ(choices.size(), before + 3) << "forward, data, weights";
    engine->make(s, ConvolutionAlgorithm::measured);
    EXPECT_EQ(convolution_choices().size(), choices.size());
    for (std::size_t i = before; i < choices.size(); ++i) {
        EXPECT_EQ(choices[i].shape, s);
        EXPECT_GT(choices[i].seconds, 0);
        EXPECT_LE(choices[i].error, 1e-5) << choices[i].pass;
        EXPECT_GT(choices[i].error, 0) << choices[i].pass;
    }
}

// On AVX2 oneDNN has the gradient of the weights of such small maps in the plain layout only.
TEST(ConvolutionEngine, CountsTheActivationsItReorders) {
    const auto simd = kernel_names();
    if (std::ranges::find(simd, "avx2") == simd.end() ||
        convolution_libraries(kernels("avx2"), Precision::float32).front() !=
            ConvolutionLibrary::onednn)
        GTEST_SKIP() << "without oneDNN or AVX2";
    const auto engine =
        make_convolution_engine(ConvolutionLibrary::onednn, kernels("avx2"), Precision::float32);
    const auto s = shape(16, 16, 2, 2, 3, 1);
    const auto convolution = engine->make(s, ConvolutionAlgorithm::direct);
    const Tensor x = random_tensor(5, 16, 2, 2, 1);
    InLayout in(engine->layout(), x), out(engine->layout(), x);
    std::vector<float> weights(s.weights());
    for (std::size_t run = 1; run <= 2; ++run) {
        convolution->forward(5, in.data(), weights.data(), out.data());
        convolution->backward_data(5, out.data(), weights.data(), in.data());
        EXPECT_EQ(engine->activation_reorders(), 2 * (run - 1));
        convolution->backward_weights(5, in.data(), out.data(), weights.data());
        EXPECT_EQ(engine->activation_reorders(), 2 * run) << "x and the gradient of y";
    }
}

TEST(ConvolutionEngine, RefusesALibraryThatDoesNotSuitTheKernels) {
    EXPECT_THROW(
        make_convolution_engine(ConvolutionLibrary::onednn, kernels("avx"), Precision::float32),
        Error);
}

}  // namespace
}  // namespace wasp
