// Both LeNets against PyTorch: values from test/golden/make_lenet_golden.py.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "nn/model.hpp"
#include "protocols/sgd.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {
namespace {

constexpr std::size_t images = 8, classes = 10;

/// The same integer hash as in the script: multiples of 2^-20 in [-1, 1).
double hashed(std::uint64_t index, std::uint64_t salt) {
    std::uint64_t z = index + (salt << 32U);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    z = z ^ (z >> 31U);
    return static_cast<double>(static_cast<std::int64_t>(z >> 43U) - (1 << 20)) / (1 << 20);
}

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

class Golden {
public:
    explicit Golden(const std::string& model)
        : file_(H5Fopen(("test/golden/" + model + ".h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)) {}
    Golden(const Golden&) = delete;
    Golden& operator=(const Golden&) = delete;
    ~Golden() { H5Fclose(file_); }

    std::vector<double> read(const std::string& path) const {
        const hid_t dataset = H5Dopen2(file_, path.c_str(), H5P_DEFAULT);
        EXPECT_GE(dataset, 0) << path;
        const hid_t space = H5Dget_space(dataset);
        std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
        EXPECT_GE(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
                  0);
        H5Sclose(space);
        H5Dclose(dataset);
        return values;
    }

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

private:
    hid_t file_;
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
