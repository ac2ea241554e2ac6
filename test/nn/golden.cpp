// Both LeNets against PyTorch: values from test/golden/make_lenet_golden.py.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "golden_file.hpp"
#include "nn/model.hpp"
#include "protocols/sgd.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {
namespace {

using test::hashed;

constexpr std::size_t images = 8, classes = 10;

void fill(Model& model) {
    std::uint64_t salt = 0;
    for (const auto& parameter : model.parameters()) {
        ++salt;
        double fan_in = 100;
        if (parameter.shape.size() > 1)
            fan_in = static_cast<double>(parameter.count / parameter.shape.front());
        const double scale = static_cast<float>(1 / std::sqrt(fan_in));
        for (std::size_t i = 0; i < parameter.count; ++i)
            model.weights()[parameter.offset + i] = static_cast<float>(hashed(i, salt) * scale);
    }
}

class Golden : public test::GoldenFile {
public:
    using GoldenFile::GoldenFile;

    /// Values that the file holds of `group`/NAME against ours, by norm.
    void expect_near(const std::string& group, const ParameterView& parameter,
                     std::span<const float> flat, double tolerance) const {
        const std::string path = group + "/" + parameter.name;
        const auto expected = read(path + "/values");
        const std::size_t stride = parameter.count <= 4096 ? 1 : 37;
        ASSERT_EQ(expected.size(), (parameter.count + stride - 1) / stride) << path;
        double error = 0, norm = 0, whole = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            error += std::pow(flat[parameter.offset + i * stride] - expected[i], 2);
            norm += expected[i] * expected[i];
        }
        for (std::size_t i = 0; i < parameter.count; ++i)
            whole += std::pow(flat[parameter.offset + i], 2);
        ASSERT_GT(norm, 0) << path;
        EXPECT_LE(std::sqrt(error / norm), tolerance) << path;
        const double expected_norm = read(path + "/norm")[0];
        EXPECT_NEAR(std::sqrt(whole) / expected_norm, 1, tolerance) << path;
    }
};

class GoldenLeNet : public testing::TestWithParam<std::string> {
protected:
    GoldenLeNet()
        : model(make_model(GetParam(),
                           {.image = {1, 28, 28}, .classes = classes, .largest_batch = images})) {
        fill(*model);
        pixels.resize(images * 784);
        for (std::size_t i = 0; i < pixels.size(); ++i)
            pixels[i] = static_cast<float>(hashed(i, 100));
        for (std::size_t i = 0; i < images; ++i)
            pointers.push_back(reinterpret_cast<const std::byte*>(&pixels[i * 784]));
    }
    ImageBatch batch() const {
        return {.images = pointers,
                .labels = labels,
                .pixel_type = PixelType::float32,
                .scale = one,
                .shift = zero};
    }

    std::unique_ptr<Model> model;
    std::vector<float> pixels, one{1}, zero{0};
    std::vector<const std::byte*> pointers;
    std::vector<int> labels{3, 1, 4, 1, 5, 9, 2, 6};
};

TEST_P(GoldenLeNet, LogitsLossAndGradientsAreThoseOfPyTorch) {
    const Golden golden(GetParam());
    std::vector<float> logits(images * classes);
    const Score inference = model->evaluate(batch(), logits);
    const auto expected = golden.read("logits");
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
        error += std::pow(logits[i] - expected[i], 2);
        norm += expected[i] * expected[i];
    }
    EXPECT_LE(std::sqrt(error / norm), 1e-5);
    const double loss = golden.read("loss")[0];
    EXPECT_NEAR(inference.loss() / loss, 1, 1e-5);

    const Score training = model->train_step(batch());
    EXPECT_NEAR(training.loss() / loss, 1, 1e-5);
    for (const auto& parameter : model->parameters())
        golden.expect_near("gradients", parameter, model->gradients(), 1e-5);
}

TEST_P(GoldenLeNet, WeightsAfterTwentySgdStepsAreThoseOfPyTorch) {
    Sgd sgd(model->weights().size(), {.momentum = 0.9F, .weight_decay = 0.0005F});
    sgd.set_learning_rate(0.05F);
    for (int step = 0; step < 20; ++step) {
        model->train_step(batch());
        axpy(1, sgd.update(model->gradients(), model->weights()), model->weights());
    }
    const Golden golden(GetParam());
    for (const auto& parameter : model->parameters())
        golden.expect_near("after_20_steps", parameter, model->weights(), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(PyTorch, GoldenLeNet, testing::Values("lenet5", "lenet5-caffe"),
                         [](const auto& model) {
                             return model.param == "lenet5" ? "lenet5" : "caffe";
                         });

}  // namespace
}  // namespace wasp
