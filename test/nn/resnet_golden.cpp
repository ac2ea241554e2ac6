// ResNets against PyTorch: values from test/golden/make_resnet_golden.py.
#include <cmath>

#include "golden_file.hpp"
#include "nn/model.hpp"
#include "protocols/sgd.hpp"
#include "tensor/kernels.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {
namespace {

using test::hashed;

/// As the script's CASES.
struct Case {
    const char* model;
    int side;
    double gamma_middle, gamma_spread, beta;
    std::uint64_t images_salt;
};

constexpr Case cases[] = {
    {"resnet20", 32, 0.5, 0.25, 0.8, 0},
    {"resnet50", 12, 0.2, 0.1, 1, 29},
    {"resnet101", 12, 0.2, 0.1, 1, 126},
};

void fill(Model& model, const Case& c) {
    std::uint64_t salt = 0;
    for (const auto& parameter : model.parameters()) {
        ++salt;
        const auto fan_in = static_cast<double>(parameter.count / parameter.shape.front());
        const auto value = [&](double hash) {
            if (parameter.shape.size() > 1) return hash / std::sqrt(fan_in);
            if (parameter.name == "fc.bias") return hash * 0.1;
            if (parameter.name.ends_with("weight")) return c.gamma_middle + c.gamma_spread * hash;
            return hash * c.beta;
        };
        for (std::size_t i = 0; i < parameter.count; ++i)
            model.weights()[parameter.offset + i] = static_cast<float>(value(hashed(i, salt)));
    }
}

/// The file's tensors of `group` against ours, each by norm.
void expect_near(const test::GoldenFile& golden, const std::string& group,
                 const std::vector<ParameterView>& views, std::span<const float> flat,
                 double tolerance) {
    const auto norms = golden.read(group + "/norms"), values = golden.read(group + "/values");
    ASSERT_EQ(norms.size(), views.size());
    std::size_t at = 0;
    for (std::size_t k = 0; k < views.size(); ++k) {
        const auto tensor = flat.subspan(views[k].offset, views[k].count);
        const std::size_t stride = tensor.size() < 64 ? 1 : (tensor.size() / 64) | 1U;
        double error = 0, norm = 0, whole = 0;
        for (std::size_t i = 0; i < tensor.size(); i += stride, ++at) {
            ASSERT_LT(at, values.size());
            error += std::pow(tensor[i] - values[at], 2);
            norm += values[at] * values[at];
        }
        for (const float value : tensor) whole += std::pow(value, 2);
        ASSERT_GT(norm, 0) << group << " " << views[k].name;
        EXPECT_LE(std::sqrt(error / norm), tolerance) << group << " " << views[k].name;
        EXPECT_NEAR(std::sqrt(whole) / norms[k], 1, tolerance) << group << " " << views[k].name;
    }
    EXPECT_EQ(at, values.size());
}

struct Way {
    ConvolutionLibrary library;
    Precision precision;
};

/// By norm. In bf16 activations have 8 bits: near zero some pass a ReLU that didn't before, and
/// with them their gradients. The deeper the network, the more: bf16 is for the shallowest one.
struct Tolerance {
    double loss, gradients, state, inference, weights;
};
constexpr Tolerance in_float32{1e-5, 1e-4, 1e-4, 1e-4, 1e-3};
constexpr Tolerance in_bf16{1e-2, 0.4, 2e-2, 2e-2, 2e-2};

class GoldenResNet : public testing::TestWithParam<std::tuple<Case, Way>> {};

TEST_P(GoldenResNet, TrainsAsInPyTorch) {
    const auto& [c, way] = GetParam();
    const Tolerance& tolerance = way.precision == Precision::bf16 ? in_bf16 : in_float32;
    constexpr std::size_t count = 4, classes = 10;
    const std::vector<int> labels{3, 1, 4, 1};
    const auto model = make_model(c.model, {.image = {3, c.side, c.side},
                                            .classes = classes,
                                            .largest_batch = count,
                                            .precision = way.precision,
                                            .convolutions = ConvolutionAlgorithm::direct,
                                            .library = way.library});
    fill(*model, c);
    const std::size_t size = model->image_shape().pixels();
    std::vector<float> pixels(count * size);
    for (std::size_t i = 0; i < pixels.size(); ++i)
        pixels[i] = static_cast<float>(hashed(i, c.images_salt));
    std::vector<const std::byte*> images;
    for (std::size_t i = 0; i < count; ++i)
        images.push_back(reinterpret_cast<const std::byte*>(&pixels[i * size]));
    const std::vector<float> one(3, 1.0F), zero(3, 0.0F);
    const ImageBatch batch{.images = images,
                           .labels = labels,
                           .pixel_type = PixelType::float32,
                           .scale = one,
                           .shift = zero};

    const test::GoldenFile golden(c.model);
    Sgd sgd(model->weights().size(), {.momentum = 0.9F, .weight_decay = 0.0005F});
    sgd.set_learning_rate(0.01F);
    for (int step = 0; step < 5; ++step) {
        const Score score = model->train_step(batch);
        if (step == 0) {
            EXPECT_NEAR(score.loss() / golden.read("loss")[0], 1, tolerance.loss);
            expect_near(golden, "gradients", model->parameters(), model->gradients(),
                        tolerance.gradients);
            expect_near(golden, "running", model->state_views(), model->state(), tolerance.state);
            std::vector<float> logits(count * classes);
            model->evaluate(batch, logits);
            const auto expected = golden.read("inference");
            double error = 0, norm = 0;
            for (std::size_t i = 0; i < logits.size(); ++i) {
                error += std::pow(logits[i] - expected[i], 2);
                norm += expected[i] * expected[i];
            }
            EXPECT_LE(std::sqrt(error / norm), tolerance.inference);
        }
        axpy(1, sgd.update(model->gradients(), model->weights()), model->weights());
    }
    expect_near(golden, "after_5_steps", model->parameters(), model->weights(), tolerance.weights);
}

std::vector<std::tuple<Case, Way>> runs() {
    std::vector<std::tuple<Case, Way>> runs;
    for (const auto& c : cases)
        for (const auto library : convolution_libraries(kernels(), Precision::float32))
            runs.push_back({c, {library, Precision::float32}});
    for (const auto library : convolution_libraries(kernels(), Precision::bf16))
        runs.push_back({cases[0], {library, Precision::bf16}});
    return runs;
}

std::string name_of(const testing::TestParamInfo<std::tuple<Case, Way>>& chosen) {
    const auto& [c, way] = chosen.param;
    return std::string(c.model) +
           (way.library == ConvolutionLibrary::onednn ? "_oneDNN" : "_OpenBLAS") +
           (way.precision == Precision::bf16 ? "_bf16" : "");
}

INSTANTIATE_TEST_SUITE_P(PyTorch, GoldenResNet, testing::ValuesIn(runs()), name_of);

}  // namespace
}  // namespace wasp
