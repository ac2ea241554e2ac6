// What the residual networks promise, for every library of convolutions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "batch.hpp"
#include "protocols/sgd.hpp"
#include "tensor/kernels.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {
namespace {

using test::copy_of;
using test::Images;
using test::relative_difference;

constexpr ImageShape small{3, 8, 8};

struct Way {
    std::string_view simd;
    ConvolutionLibrary library;
};

std::vector<Way> ways() {
    std::vector<Way> ways;
    // The slowest and the best instruction set; the operators are tested with all of them. (On AVX2
    // oneDNN has no fast kernel for the 2 × 2 pixels on top of these small networks: minutes.)
    const auto names = kernel_names();
    for (const auto simd : std::set{names.front(), names.back()})
        for (const auto library : convolution_libraries(kernels(simd), Precision::float32))
            ways.push_back({simd, library});
    return ways;
}

std::string name_of(const testing::TestParamInfo<Way>& way) {
    return std::string(way.param.simd) +
           (way.param.library == ConvolutionLibrary::onednn ? "_oneDNN" : "_OpenBLAS");
}

/// Winograd's rounding is of no interest here; and nothing is to be measured.
ModelSetup setup_of(const Way& way, int largest_batch = 12) {
    return {.image = small,
            .largest_batch = largest_batch,
            .simd = way.simd,
            .convolutions = ConvolutionAlgorithm::direct,
            .library = way.library};
}

/// Normalisations that keep the inputs of ReLUs away from zero, most open and some shut: without
/// this, rounding and small steps move some across it, and deep networks make much of that.
void calm(Model& model) {
    for (const auto& parameter : model.parameters()) {
        if (parameter.name.find("bn") == std::string::npos &&
            parameter.name.find("downsample.1") == std::string::npos)
            continue;
        const auto values = model.weights().subspan(parameter.offset, parameter.count);
        const bool scale = parameter.name.ends_with(".weight");
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = scale ? 0.2F : (i % 4 == 3 ? -1.0F : 1.0F);
    }
}

class ResNets : public testing::TestWithParam<Way> {
protected:
    ResNets() { use_threads(1); }
    ~ResNets() override { use_threads(1); }

    std::unique_ptr<Model> make(std::string_view name = "resnet20") const {
        return make_model(name, setup_of(GetParam()));
    }
    const Images images{12, small, 10};
};

/// The gradient's component along a direction is the slope of the loss there: with padded
/// shortcuts, with projections, and with bottlenecks.
TEST_P(ResNets, GradientIsTheSlopeOfTheLoss) {
    const auto check = [&](Model& model, std::size_t begin, std::size_t end) {
        model.train_step(images.batch());
        const auto gradient = copy_of(model.gradients()), weights = copy_of(model.weights());
        double norm = 0;
        for (std::size_t i = begin; i < end; ++i) norm += std::pow(gradient[i], 2);
        norm = std::sqrt(norm);
        ASSERT_GT(norm, 0);
        const double step = 0.002 / (1 + norm);  // few signs of ReLUs change
        const auto loss_at = [&](double distance) {
            for (std::size_t i = begin; i < end; ++i)
                model.weights()[i] = weights[i] + static_cast<float>(distance * gradient[i] / norm);
            return model.train_step(images.batch()).loss();
        };
        const double slope = (loss_at(step) - loss_at(-step)) / (2 * step);
        EXPECT_NEAR(slope / norm, 1, 0.05) << norm;
        copy(weights, model.weights());
    };
    for (const char* name : {"resnet20", "resnet18", "resnet50"}) {
        SCOPED_TRACE(name);
        const auto model = make(name);
        calm(*model);
        check(*model, 0, model->weights().size());
    }
    const auto model = make("resnet20");
    calm(*model);
    constexpr std::size_t some = 7;  // meets every kind, in every stage
    for (std::size_t k = 0; k < model->parameters().size(); k += some) {
        const auto& parameter = model->parameters()[k];
        SCOPED_TRACE(parameter.name);
        check(*model, parameter.offset, parameter.offset + parameter.count);
    }
}

TEST_P(ResNets, ThreadsGiveTheSameBitsEachTime) {
    const auto alone = make();
    alone->train_step(images.batch());
    for (const int threads : {2, 3}) {
        use_threads(threads);
        const auto first = make(), second = make();
        first->train_step(images.batch());
        second->train_step(images.batch());
        EXPECT_EQ(copy_of(first->gradients()), copy_of(second->gradients()));
        EXPECT_EQ(copy_of(first->state()), copy_of(second->state()));
        EXPECT_LE(relative_difference(first->gradients(), alone->gradients()), 1e-4);
    }
}

TEST_P(ResNets, BatchSizeMayChangeFromStepToStep) {
    const auto model = make();
    const auto state = copy_of(model->state());
    for (const std::size_t size : {12, 5, 1, 12}) {
        const auto fresh = make();
        fresh->train_step(images.batch(0, size));
        model->train_step(images.batch(0, size));
        EXPECT_EQ(copy_of(model->gradients()), copy_of(fresh->gradients())) << size;
    }
}

TEST_P(ResNets, InferenceScoresEachImageForItself) {
    const auto model = make();
    for (int step = 0; step < 3; ++step) model->train_step(images.batch());
    const auto gradients = copy_of(model->gradients()), state = copy_of(model->state());
    std::vector<float> all(120), one(10);
    const Score total = model->evaluate(images.batch(), all);
    double loss = 0;
    for (std::size_t i = 0; i < 12; ++i) {
        loss += model->evaluate(images.batch(i, 1), one).loss_sum;
        EXPECT_LE(relative_difference(one, std::span(all).subspan(10 * i, 10)), 1e-5) << i;
    }
    EXPECT_NEAR(total.loss_sum, loss, 1e-5 * loss);
    EXPECT_EQ(copy_of(model->gradients()), gradients);
    EXPECT_EQ(copy_of(model->state()), state);
}

TEST_P(ResNets, EvaluateMoreImagesThanABatchHolds) {
    const auto large = make();
    const auto few = make_model("resnet20", setup_of(GetParam(), 5));
    std::vector<float> at_once(120), in_parts(120);
    const Score expected = large->evaluate(images.batch(), at_once);
    const Score score = few->evaluate(images.batch(), in_parts);
    EXPECT_LE(relative_difference(in_parts, at_once), 1e-5);
    EXPECT_EQ(score.correct, expected.correct);
    EXPECT_EQ(score.images, 12);
    EXPECT_THROW(few->train_step(images.batch()), Error);
}

TEST_P(ResNets, GradientsAreReportedOnceAndFinalFromTheTopDown) {
    const auto model = make();
    std::vector<float> reported(model->gradients().size(), NAN);
    std::size_t calls = 0, last = reported.size();
    model->set_gradient_ready([&](std::size_t offset, std::size_t count) {
        copy(model->gradients().subspan(offset, count), std::span(reported).subspan(offset, count));
        if (calls++ == 0) {
            EXPECT_EQ(offset + count, last);
        }
    });
    model->train_step(images.batch());
    EXPECT_EQ(reported, copy_of(model->gradients())) << "all are reported, when they are final";
    EXPECT_GT(calls, 18U) << "layer by layer";
}

TEST_P(ResNets, RunWithoutReordersAndInNoMoreMemoryThanEstimated) {
    const auto setup = setup_of(GetParam());
    for (const char* name : {"resnet20", "resnet18"}) {
        const auto model = make(name);
        for (int step = 0; step < 2; ++step) model->train_step(images.batch());
        for (const auto& [fact, value] : model->facts()) {
            if (fact == "activation_reorders") {
                EXPECT_EQ(value, 0);
            }
            if (fact == "bytes") {
                EXPECT_LE(value, static_cast<double>(estimate_bytes(name, setup)) + (16U << 20U))
                    << "up to whole huge pages";
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Every, ResNets, testing::ValuesIn(ways()), name_of);

TEST(ResNet, LibrariesAndAlgorithmsAgree) {
    if (convolution_libraries(kernels(), Precision::float32).front() != ConvolutionLibrary::onednn)
        GTEST_SKIP() << "one library only";
    const Images images(12, small, 10);
    const auto gradients = [&](ConvolutionLibrary library, ConvolutionAlgorithm algorithm) {
        auto setup = setup_of({{}, library});
        setup.convolutions = algorithm;
        const auto model = make_model("resnet18", setup);
        calm(*model);
        model->train_step(images.batch());
        return copy_of(model->gradients());
    };
    const auto plain = gradients(ConvolutionLibrary::openblas, ConvolutionAlgorithm::direct);
    using enum ConvolutionAlgorithm;
    for (const auto algorithm : {direct, winograd, measured})
        EXPECT_LE(relative_difference(gradients(ConvolutionLibrary::onednn, algorithm), plain),
                  1e-3);
}

TEST(ResNet, Bf16ComputesNearlyTheSame) {
    if (convolution_libraries(kernels(), Precision::bf16).empty()) {
        EXPECT_THROW(make_model("resnet20", {.image = small, .precision = Precision::bf16}), Error);
        GTEST_SKIP() << "no AVX-512-BF16 or AMX here";
    }
    const Images images(12, small, 10);
    const auto trained = [&](Precision precision, ConvolutionAlgorithm algorithm) {
        auto model = make_model("resnet20", {.image = small,
                                             .largest_batch = 12,
                                             .precision = precision,
                                             .convolutions = algorithm});
        calm(*model);
        model->train_step(images.batch());
        return model;
    };
    using enum ConvolutionAlgorithm;
    const auto exact = trained(Precision::float32, direct),
               rounded = trained(Precision::bf16, direct);
    for (const auto algorithm : {product, turned, measured})
        EXPECT_LE(relative_difference(trained(Precision::bf16, algorithm)->gradients(),
                                      exact->gradients()),
                  0.05)
            << static_cast<int>(algorithm);
    EXPECT_LE(relative_difference(rounded->gradients(), exact->gradients()), 0.05);
    EXPECT_LE(relative_difference(rounded->state(), exact->state()), 0.01);
    const double first = rounded->evaluate(images.batch()).loss();
    EXPECT_NEAR(first, exact->evaluate(images.batch()).loss(), 0.02 * first);
    for (int step = 0; step < 20; ++step) {
        axpy(-0.002F, rounded->gradients(), rounded->weights());
        rounded->train_step(images.batch());
    }
    EXPECT_LT(rounded->train_step(images.batch()).loss(), 0.9 * first);
}

TEST(ResNet, SizesAreThoseOfThePapers) {
    const std::pair<const char*, std::size_t> sizes[] = {
        // He et al. 2015, table 6, in millions: 0.27, 0.46, 0.66, 0.85, 1.7
        {"resnet20", 269722},
        {"resnet32", 464154},
        {"resnet44", 658586},
        {"resnet56", 853018},
        {"resnet110", 1727962},
        // torchvision's, with a stem of 3·64·3·3 and ten classes
        {"resnet18", 11173962},
        {"resnet34", 21282122},
        {"resnet50", 23520842},
        {"resnet101", 42512970},
        {"resnet152", 58156618}};
    const std::string help = model_help();
    for (const auto& [name, weights] : sizes) {
        EXPECT_NE(help.find(fmt::format("{:<13}{:>9} weights", name, weights)), std::string::npos)
            << name;
    }
    const auto model = make_model("resnet20", {.image = small, .classes = 100, .largest_batch = 1});
    EXPECT_EQ(model->weights().size(), 269722U + 90 * 65);
    EXPECT_EQ(model->parameters().front().name, "conv1.weight");
    EXPECT_EQ(model->parameters().back().name, "fc.bias");
    EXPECT_EQ(model->state_views()[2].name, "layer1.0.bn1.running_mean");
}

}  // namespace
}  // namespace wasp
