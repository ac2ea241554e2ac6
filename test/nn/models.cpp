// What every model promises, for every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

#include "base/error.hpp"
#include "batch.hpp"
#include "tensor/kernels.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {
namespace {

using test::copy_of;
using test::Images;
using test::relative_difference;

struct Case {
    std::string model;
    ImageShape shape;
    int classes, images;
};

const Case cases[] = {
    {"lenet5", {1, 28, 28}, 10, 21},     {"lenet5", {3, 32, 32}, 100, 5},
    {"lenet5", {2, 17, 30}, 3, 64},      {"lenet5-caffe", {1, 28, 28}, 10, 9},
    {"lenet5-caffe", {3, 19, 16}, 7, 3}, {"lenet5-tanh", {1, 12, 13}, 2, 33},
    {"mlp", {1, 28, 28}, 10, 70},        {"mlp", {3, 1, 1}, 2, 1},
    {"mlp-dropout", {1, 5, 6}, 4, 17},
};

class Models : public testing::TestWithParam<std::string_view> {
protected:
    Models() { use_threads(1); }
    ~Models() override { use_threads(1); }

    std::unique_ptr<Model> make(const Case& c, std::uint64_t seed = 1) const {
        return make_model(c.model, {.image = c.shape,
                                    .classes = c.classes,
                                    .largest_batch = c.images,
                                    .seed = seed,
                                    .simd = GetParam()});
    }
};

/// The gradient's component along a direction is the slope of the loss there; with dropout too.
TEST_P(Models, GradientIsTheSlopeOfTheLoss) {
    for (const Case& c : {Case{"mlp-dropout", {1, 5, 6}, 4, 17}, {"lenet5", {1, 28, 28}, 10, 21}}) {
        SCOPED_TRACE(c.model + testing::PrintToString(c.images));
        const Images images(c.images, c.shape, c.classes);
        const auto model = make(c);
        model->train_step(images.batch());
        const auto gradient = copy_of(model->gradients());
        const auto weights = copy_of(model->weights());
        for (const auto& parameter : model->parameters()) {
            double norm = 0;
            for (std::size_t i = 0; i < parameter.count; ++i)
                norm += std::pow(gradient[parameter.offset + i], 2);
            norm = std::sqrt(norm);
            ASSERT_GT(norm, 0) << parameter.name;
            // In step 1 of another model of the same seed dropout drops the same.
            const auto loss_at = [&](double step) {
                const auto other = make(c);
                copy(weights, other->weights());
                for (std::size_t i = parameter.offset; i < parameter.offset + parameter.count; ++i)
                    other->weights()[i] += static_cast<float>(step * gradient[i] / norm);
                return other->train_step(images.batch()).loss();
            };
            const double step = 0.001;  // few winners of pooling change
            const double slope = (loss_at(step) - loss_at(-step)) / (2 * step);
            EXPECT_NEAR(slope / norm, 1, 0.05) << parameter.name;
        }
    }
}

TEST_P(Models, EachImageIsScoredForItself) {
    for (const auto& c : cases) {
        SCOPED_TRACE(c.model + testing::PrintToString(c.images));
        const Images images(c.images, c.shape, c.classes);
        const auto model = make(c);
        const auto classes = static_cast<std::size_t>(c.classes);
        std::vector<float> all(static_cast<std::size_t>(c.images) * classes), one(classes);
        const Score total = model->evaluate(images.batch(), all);
        EXPECT_EQ(total.images, c.images);
        Score sum;
        for (std::size_t i = 0; i < static_cast<std::size_t>(c.images); ++i) {
            const Score score = model->evaluate(images.batch(i, 1), one);
            EXPECT_EQ(one, copy_of(std::span(all).subspan(i * classes, classes))) << "image " << i;
            double denominator = 0;
            for (const float logit : one) denominator += std::exp(static_cast<double>(logit));
            const auto label = static_cast<std::size_t>(images.labels()[i]);
            EXPECT_NEAR(score.loss_sum, std::log(denominator) - one[label], 1e-5);
            EXPECT_EQ(score.correct, *std::ranges::max_element(one) == one[label] ? 1 : 0);
            sum.loss_sum += score.loss_sum;
            sum.correct += score.correct;
        }
        EXPECT_EQ(total.correct, sum.correct);
        EXPECT_NEAR(total.loss_sum, sum.loss_sum, 1e-5 * sum.loss_sum);
    }
}

TEST_P(Models, GradientIsTheMeanOverTheImages) {
    const Case c{"lenet5", {1, 28, 28}, 10, 19};
    const Images images(c.images, c.shape, c.classes);
    const auto model = make(c);
    std::vector<float> mean(model->weights().size());
    for (std::size_t i = 0; i < 19; ++i) {
        model->train_step(images.batch(i, 1));
        axpy(1 / 19.0F, model->gradients(), mean);
    }
    model->train_step(images.batch());
    EXPECT_LE(relative_difference(model->gradients(), mean), 1e-5);
}

TEST_P(Models, ThreadsShareTheImagesAndGiveTheSameBitsEachTime) {
    for (const auto& c : cases) {
        SCOPED_TRACE(c.model + testing::PrintToString(c.images));
        const Images images(c.images, c.shape, c.classes);
        const auto alone = make(c);
        const Score score = alone->train_step(images.batch());
        for (const int threads : {2, 3}) {
            use_threads(threads);
            const auto first = make(c), second = make(c);
            const Score shared = first->train_step(images.batch());
            second->train_step(images.batch());
            EXPECT_EQ(copy_of(first->gradients()), copy_of(second->gradients()));
            EXPECT_LE(relative_difference(first->gradients(), alone->gradients()), 1e-5);
            EXPECT_NEAR(shared.loss_sum, score.loss_sum, 1e-9 * score.loss_sum);
            EXPECT_EQ(shared.correct, score.correct);
            EXPECT_EQ(shared.images, c.images);
        }
        use_threads(1);
    }
}

TEST_P(Models, NumberOfThreadsAndBatchSizeMayChangeFromStepToStep) {
    const Case c{"lenet5", {1, 28, 28}, 10, 200};
    const Images images(c.images, c.shape, c.classes);
    const auto model = make(c);
    for (const auto& [threads, size] : {std::pair{1, 200}, {3, 200}, {3, 1}, {2, 65}, {1, 17}}) {
        use_threads(1);
        const auto fresh = make(c);
        fresh->train_step(images.batch(0, static_cast<std::size_t>(size)));
        use_threads(threads);
        model->train_step(images.batch(0, static_cast<std::size_t>(size)));
        EXPECT_LE(relative_difference(model->gradients(), fresh->gradients()), 1e-5);
    }
}

TEST_P(Models, EvaluationLeavesWeightsAndGradientsAlone) {
    const Case c{"mlp-dropout", {1, 5, 6}, 4, 17};
    const Images images(c.images, c.shape, c.classes);
    const auto model = make(c);
    model->train_step(images.batch());
    const auto gradients = copy_of(model->gradients()), weights = copy_of(model->weights());
    const double loss = model->evaluate(images.batch()).loss();
    EXPECT_EQ(copy_of(model->gradients()), gradients);
    EXPECT_EQ(copy_of(model->weights()), weights);
    EXPECT_EQ(model->evaluate(images.batch()).loss(), loss) << "inference drops nothing";
}

TEST_P(Models, DropoutIsSeededAndNewInEachStep) {
    const Case c{"mlp-dropout", {1, 5, 6}, 4, 17};
    const Images images(c.images, c.shape, c.classes);
    const auto model = make(c), equal = make(c), other = make(c, 2);
    copy(model->weights(), other->weights());
    const double loss = model->train_step(images.batch()).loss();
    EXPECT_EQ(equal->train_step(images.batch()).loss(), loss);
    EXPECT_NE(other->train_step(images.batch()).loss(), loss);
    EXPECT_NE(model->train_step(images.batch()).loss(), loss);
}

INSTANTIATE_TEST_SUITE_P(Cpu, Models, testing::ValuesIn(kernel_names()),
                         [](const auto& set) { return std::string(set.param); });

TEST(Model, InstructionSetsAgree) {
    for (const auto& c : cases) {
        SCOPED_TRACE(c.model + testing::PrintToString(c.images));
        const Images images(c.images, c.shape, c.classes);
        const auto make = [&](std::string_view simd) {
            return make_model(c.model, {.image = c.shape, .classes = c.classes, .simd = simd});
        };
        const auto best = make("");
        best->train_step(images.batch());
        for (const auto simd : kernel_names()) {
            const auto model = make(simd);
            model->train_step(images.batch());
            EXPECT_LE(relative_difference(model->gradients(), best->gradients()), 1e-5) << simd;
        }
    }
}

TEST(Model, ParametersAreNamedAndLaidOutAsInPyTorch) {
    const auto model = make_model("lenet5", {.image = {3, 32, 32}, .classes = 7});
    using Shape = std::vector<std::size_t>;
    const std::pair<std::string, Shape> expected[] = {
        {"conv1.weight", {6, 3, 5, 5}},  {"conv1.bias", {6}},
        {"conv2.weight", {16, 6, 5, 5}}, {"conv2.bias", {16}},
        {"fc1.weight", {120, 576}},      {"fc1.bias", {120}},
        {"fc2.weight", {84, 120}},       {"fc2.bias", {84}},
        {"fc3.weight", {7, 84}},         {"fc3.bias", {7}}};
    const auto& parameters = model->parameters();
    ASSERT_EQ(parameters.size(), std::size(expected));
    std::size_t offset = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        EXPECT_EQ(parameters[i].name, expected[i].first);
        EXPECT_EQ(parameters[i].shape, expected[i].second);
        EXPECT_EQ(parameters[i].offset, offset);
        offset += parameters[i].count;
    }
    EXPECT_EQ(model->weights().size(), offset);
    EXPECT_EQ(model->gradients().size(), offset);
    EXPECT_TRUE(model->state().empty());
    EXPECT_EQ(model->name(), "lenet5");
    EXPECT_EQ(model->classes(), 7);
    EXPECT_EQ(model->image_shape(), (ImageShape{3, 32, 32}));
}

TEST(Model, SizesAreThoseOfThePapers) {
    const auto weights = [](std::string_view name) {
        return make_model(name, {.image = {1, 28, 28}})->weights().size();
    };
    EXPECT_EQ(weights("lenet5"), 61706U);
    EXPECT_EQ(weights("lenet5-caffe"), 431080U);
    EXPECT_EQ(weights("mlp"), 101770U);
    const auto model = make_model("lenet5", {.image = {1, 28, 28}});
    // conv1: 6·28·28·25 twice (no gradient of the images); conv2: 16·10·10·150, linear: 58,920.
    EXPECT_EQ(model->flops_per_image(), 2 * (2 * 117600.0 + 3 * 240000.0 + 3 * 58920.0));
}

TEST(Model, InitialWeightsFollowTheirRules) {
    const auto make = [](Initialisation rule, std::uint64_t seed) {
        return make_model("lenet5-caffe",
                          {.image = {1, 28, 28}, .seed = seed, .initialisation = rule});
    };
    const auto pytorch = make(Initialisation::pytorch, 1), he = make(Initialisation::he, 1);
    for (std::size_t i = 0; i < pytorch->parameters().size(); ++i) {
        const auto& weight = pytorch->parameters()[i / 2 * 2];
        const auto& parameter = pytorch->parameters()[i];
        const double fan_in = static_cast<double>(weight.count / weight.shape[0]);
        double largest = 0, square = 0, he_square = 0;
        for (std::size_t k = parameter.offset; k < parameter.offset + parameter.count; ++k) {
            largest = std::max(largest, std::abs(static_cast<double>(pytorch->weights()[k])));
            square += std::pow(pytorch->weights()[k], 2);
            he_square += std::pow(he->weights()[k], 2);
        }
        const auto count = static_cast<double>(parameter.count);
        EXPECT_LE(largest, 1 / std::sqrt(fan_in)) << parameter.name;
        if (i % 2 == 1) {
            EXPECT_EQ(he_square, 0) << parameter.name;
        }
        if (count < 400 || i % 2 == 1) continue;
        EXPECT_NEAR(square / count * 3 * fan_in, 1, 0.15) << parameter.name;
        EXPECT_NEAR(he_square / count * fan_in / 2, 1, 0.2) << parameter.name;
    }
    EXPECT_EQ(copy_of(make(Initialisation::he, 1)->weights()), copy_of(he->weights()));
    EXPECT_NE(copy_of(make(Initialisation::he, 2)->weights()), copy_of(he->weights()));
}

TEST(Model, BetweenLayersIsCalledByTheCallingThreadAndMayThrow) {
    use_threads(2);
    const Images images(64, {1, 28, 28}, 10);
    const auto model = make_model("lenet5", {.image = {1, 28, 28}});
    int calls = 0;
    std::set<std::thread::id> callers;
    model->set_between_layers([&] {
        ++calls;
        callers.insert(std::this_thread::get_id());
    });
    model->train_step(images.batch());
    EXPECT_GE(calls, 5);
    EXPECT_EQ(callers, std::set{std::this_thread::get_id()});
    calls = 0;
    model->evaluate(images.batch());
    EXPECT_GE(calls, 3);

    model->set_between_layers([&] {
        if (++calls == 6) throw Error(ExitCode::fault, "another rank is gone");
    });
    calls = 0;
    EXPECT_THROW(model->train_step(images.batch()), Error);
    model->set_between_layers({});
    EXPECT_TRUE(std::isfinite(model->train_step(images.batch()).loss()));
    use_threads(1);
}

TEST(Model, GradientsAreReportedOnceAndFinal) {
    const Images images(40, {1, 28, 28}, 10);
    for (const int threads : {1, 2}) {
        use_threads(threads);
        const auto model = make_model("lenet5", {.image = {1, 28, 28}});
        std::vector<float> reported(model->gradients().size(), NAN);
        std::size_t floats = 0;
        model->set_gradient_ready([&](std::size_t offset, std::size_t count) {
            copy(model->gradients().subspan(offset, count),
                 std::span(reported).subspan(offset, count));
            floats += count;
        });
        model->train_step(images.batch());
        EXPECT_EQ(floats, reported.size());
        EXPECT_EQ(reported, copy_of(model->gradients()));
        model->evaluate(images.batch());
        EXPECT_EQ(floats, reported.size()) << "no gradients in inference";
    }
    use_threads(1);
}

TEST(Model, WhatCanNotBeIsRefused) {
    const auto message = [](std::string_view name, ModelSetup setup) {
        try {
            make_model(name, setup);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::usage);
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(message("lenet6", {.image = {1, 28, 28}}).find("lenet5"), std::string::npos);
    const std::string small = message("lenet5", {.image = {1, 8, 28}});
    EXPECT_NE(small.find("8 × 28"), std::string::npos) << small;
    EXPECT_NE(small.find("conv2"), std::string::npos) << small;
    EXPECT_EQ(message("lenet5", {.image = {1, 12, 12}}), "");
    EXPECT_NE(message("lenet5", {.image = {1, 11, 12}}), "");
    EXPECT_EQ(message("lenet5-caffe", {.image = {1, 16, 16}}), "");
    EXPECT_NE(message("lenet5-caffe", {.image = {1, 15, 16}}), "");
    EXPECT_NE(message("mlp", {.image = {1, 0, 5}}), "");
    EXPECT_NE(message("mlp", {.image = {1, 5, 5}, .classes = 1}), "");
    EXPECT_NE(message("mlp", {.image = {1, 5, 5}, .simd = "mmx"}).find("mmx"), std::string::npos);
}

TEST(Model, HelpNamesEveryModel) {
    const std::string help = model_help();
    for (const char* word : {"lenet5 ", "61706", "lenet5-caffe", "431080", "mlp"})
        EXPECT_NE(help.find(word), std::string::npos) << word;
}

}  // namespace
}  // namespace wasp
