// Residual networks as a user trains them on several ranks.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "report/model_file.hpp"
#include "report/results_file.hpp"
#include "support/wasp_program.hpp"

namespace wasp::test {
namespace {

/// 32 images in four classes, to be learnt by heart.
std::filesystem::path few_images(const Scratch& scratch) {
    auto path = scratch / "few.h5";
    const auto outcome = run_wasp({"data", "synth", "--classes", "4", "--shape", "3,16,16",
                                   "--train", "32", "--test", "8", "--out", path.string()});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return path;
}

Words training(const std::filesystem::path& data, const std::filesystem::path& out,
               const Words& more) {
    return Words{"train",      "--data",   data.string(), "--out",     out.string(),
                 "--model",    "resnet20", "--batch",     "8",         "--lr",
                 "0.02",       "--eval",   "none",        "--threads", "1",
                 "--progress", "none",     "--order",     "sequential"} +
           more;
}

/// Of all ranks' steps [first, last) in tenths of the run.
double mean_loss(const Results& results, std::size_t first, std::size_t last) {
    double sum = 0;
    std::size_t count = 0;
    for (const auto& rank : results.ranks)
        for (std::size_t i = rank.steps.size() * first / 10; i < rank.steps.size() * last / 10;
             ++i, ++count)
            sum += static_cast<double>(rank.steps[i].loss);
    return sum / static_cast<double>(count);
}

TEST(ResNets, LearnAFewImagesByHeartWithEveryKindOfProtocol) {
    const Scratch scratch;
    const auto data = few_images(scratch);
    for (const std::string protocol : {"serial", "bsp", "asp", "ssp", "wasp", "nosync"}) {
        SCOPED_TRACE(protocol);
        const auto out = scratch / (protocol + ".h5");
        const std::string ranks = protocol == "serial" ? "1" : "2";
        const auto outcome = run_wasp(
            training(data, out,
                     {"--protocol", protocol, "--updates", "40", "--cluster", "threads:" + ranks}));
        ASSERT_EQ(outcome.code, 0) << outcome.err;
        const auto results = read_results(out);
        EXPECT_EQ(results.status, "finished");
        EXPECT_LT(mean_loss(results, 8, 10), 0.8 * mean_loss(results, 0, 2));
    }
}

TEST(ResNets, GradientsThatLeaveLayerByLayerGiveTheSameBits) {
    const Scratch scratch;
    const auto data = few_images(scratch);
    const auto weights_after = [&](const std::string& overlap, const auto& start) {
        const auto model = scratch / "model.h5";
        std::filesystem::remove(model);
        const auto outcome = run_command(
            start(training(data, scratch / "r.h5",
                           {"--unique", "--protocol", "bsp", "--updates", "8", "--overlap", overlap,
                            "--convolutions", "direct", "--save-model", model.string()})));
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        std::vector<float> weights;
        for (const auto& tensor : read_model_file(model).tensors)
            weights.insert(weights.end(), tensor.values.begin(), tensor.values.end());
        return weights;
    };
    const auto on_threads = [](const Words& words) {
        return wasp_words(words + Words{"--cluster", "threads:3"});
    };
    const auto on_mpi = [](const Words& words) { return mpi_words(2, words); };
    EXPECT_EQ(weights_after("on", on_threads), weights_after("off", on_threads));
    EXPECT_EQ(weights_after("on", on_mpi), weights_after("off", on_mpi));
}

TEST(ResNets, GradientsThatLeaveLayerByLayerTrainSharedWeights) {
    const Scratch scratch;
    const auto data = few_images(scratch);
    for (const std::string protocol : {"asp", "ssp", "wasp:period=5"}) {
        SCOPED_TRACE(protocol);
        const auto out = scratch / (protocol.substr(0, 3) + ".h5");
        const auto outcome = run_command(mpi_words(
            2,
            training(data, out, {"--protocol", protocol, "--updates", "40", "--overlap", "on"})));
        ASSERT_EQ(outcome.code, 0) << outcome.err;
        const auto results = read_results(out);
        EXPECT_EQ(std::get<std::int64_t>(results.summary.at("updates")), 40);
        EXPECT_LT(mean_loss(results, 8, 10), 0.8 * mean_loss(results, 0, 2));
    }
}

}  // namespace
}  // namespace wasp::test
