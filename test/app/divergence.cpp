// Where a run that diverged is told to have done so, and that nothing of it is kept as good.
#include "../../src/app/divergence.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "report/checkpoint_file.hpp"
#include "report/model_file.hpp"
#include "report/results_file.hpp"
#include "support/wasp_program.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp::test {
namespace {

namespace fs = std::filesystem;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr double any_loss = std::numeric_limits<double>::infinity();

struct Network {
    std::unique_ptr<Model> model = make_model("lenet5", {.image = {1, 28, 28}});

    float& at(std::span<float> floats, const std::string& name, std::size_t index) const {
        for (const auto& view : model->parameters())
            if (view.name == name) return floats[view.offset + index];
        throw std::runtime_error(name);
    }
    std::string suspect(float loss, double max_loss = any_loss) const {
        return describe(find_suspect(*model, loss, max_loss), *model);
    }
};

TEST(Divergence, TheLayerIsNamed) {
    const Network network;
    const auto weights = network.model->weights(), gradients = network.model->gradients();
    EXPECT_EQ(network.suspect(2.3F), "");
    network.at(gradients, "fc2.weight", 5) = 3;
    EXPECT_EQ(network.suspect(2.3F, 2), "the steepest gradient is that of fc2.weight");
    // Backwards it went through fc1 first.
    network.at(gradients, "fc1.bias", 0) = nan;
    network.at(gradients, "conv1.weight", 0) = infinite;
    EXPECT_EQ(network.suspect(2.3F), "the gradient of fc1.bias is not finite");
    network.at(weights, "conv2.weight", 7) = -1e30F;
    EXPECT_EQ(network.suspect(nan), "the largest weight is in conv2.weight");
    // Forwards the images meet conv2 first.
    network.at(weights, "fc3.weight", 7) = nan;
    network.at(weights, "conv2.bias", 2) = infinite;
    EXPECT_EQ(network.suspect(nan), "conv2.bias has weights that are not finite");
    EXPECT_FALSE(is_finite(*network.model));
}

/// The weights of a short training, with one made huge.
fs::path model_with_a_huge_weight(const Scratch& scratch) {
    const auto path = scratch / "model.h5";
    const auto outcome = run_wasp(
        short_training(scratch / "first.h5", {"--updates", "1", "--protocol", "serial", "--cluster",
                                              "threads:1", "--save-model", path.string()}));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    auto file = read_model_file(path);
    for (auto& tensor : file.tensors)
        if (tensor.name == "conv2.weight") tensor.values[0] = 1e38F;
    write_model_file(path, file);
    return path;
}

TEST(Divergence, EndsAllRanksWithTheLayerInItsLine) {
    const Scratch scratch;
    const auto init = model_with_a_huge_weight(scratch).string();
    int number = 0;
    for (const std::string protocol : {"bsp", "asp", "nosync", "easgd"}) {
        const auto out = scratch / (std::to_string(++number) + ".h5");
        const auto outcome = run_command(mpi_words(
            3, short_training(out, {"--epochs", "1000", "--init", init, "--protocol", protocol})));
        EXPECT_EQ(not_refused(outcome, 3, ": the largest weight is in conv2.weight"), "")
            << protocol;
        EXPECT_EQ(read_results(out).status, "diverged");
    }
}

// Every step may have a checkpoint, but none has what the last ones came to.
TEST(Divergence, GoodCheckpointsAndModelsStay) {
    const Scratch scratch;
    for (const std::string protocol : {"bsp", "asp", "nosync"}) {
        const auto out = scratch / (protocol + ".h5");
        const auto model = scratch / (protocol + "-model.h5");
        const auto outcome = run_wasp(short_training(
            out,
            {"--cluster", "threads:3", "--protocol", protocol, "--epochs", "50", "--lr", "1000",
             "--eval", "none", "--checkpoint-every", "1updates", "--save-model", model.string()}));
        EXPECT_EQ(not_refused(outcome, 3, "diverged: rank "), "") << protocol;
        EXPECT_EQ(read_results(out).status, "diverged");
        EXPECT_FALSE(fs::exists(model));
        if (!fs::exists(fs::path(out) += ".ckpt")) continue;  // it was too soon
        for (const auto& entry : fs::directory_iterator(fs::path(out) += ".ckpt")) {
            for (const auto& tensor : read_checkpoint(entry.path()).model.tensors)
                EXPECT_TRUE(all_finite(tensor.values)) << entry.path() << " " << tensor.name;
        }
        EXPECT_TRUE(protocol != "bsp" || !fs::is_empty(fs::path(out) += ".ckpt"));
    }
}

}  // namespace
}  // namespace wasp::test
