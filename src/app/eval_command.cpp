#include <memory>

#include "base/error.hpp"
#include "base/failure.hpp"
#include "cluster/cluster.hpp"
#include "command.hpp"
#include "confusion.hpp"
#include "core_share.hpp"
#include "data/dataset.hpp"
#include "model_io.hpp"
#include "output.hpp"
#include "report/model_file.hpp"
#include "scorer.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

struct EvalOptions {
    std::string model_file, data;
    bool training_images = false;
    std::int64_t batch = 64;
};

/// Normalisations of the same kind of pixels differ a little. Those of bytes and of floats from 0
/// to 1 differ by 255, and the model would see nothing but black or white.
void check_scale(const EvalOptions& options, const ModelFile& file, const Dataset& dataset) {
    constexpr float most = 16;
    for (std::size_t channel = 0; channel < dataset.scale.size(); ++channel) {
        const float ratio = file.scale.at(channel) / dataset.scale[channel];
        REQUIRE(ratio < most && ratio > 1 / most,
                "'{}' was trained on pixels {:.0f} times as large as those of '{}'; convert the "
                "data as the training data were (`wasp data import`)",
                options.model_file, 1 / ratio, options.data);
    }
}

/// The network of the file with its weights, and `dataset` normalised as it was for it.
std::unique_ptr<Model> load_model(const EvalOptions& options, Dataset& dataset) {
    const ModelFile file = read_model_file(options.model_file);
    const ImageShape shape{file.channels, file.height, file.width};
    REQUIRE(shape == dataset.shape,
            "'{}' is for images of {}×{}×{}, but those of '{}' are {}×{}×{} (C×H×W)",
            options.model_file, shape.channels, shape.height, shape.width, options.data,
            dataset.shape.channels, dataset.shape.height, dataset.shape.width);
    REQUIRE(file.classes == dataset.classes, "'{}' knows {} classes, but '{}' has {}",
            options.model_file, file.classes, options.data, dataset.classes);
    ModelSetup setup;
    setup.image = shape;
    setup.classes = file.classes;
    setup.largest_batch = static_cast<int>(options.batch);
    std::unique_ptr<Model> model;
    const auto failure = failure_of([&] { model = make_model(file.model, setup); });
    REQUIRE(!failure, "'{}': {}", options.model_file, failure->what());
    set_weights(*model, file, options.model_file);
    check_scale(options, file, dataset);
    dataset.scale = file.scale;
    dataset.shift = file.shift;
    return model;
}

void evaluate(Cluster& cluster, const EvalOptions& options) {
    use_threads(share_cores(cluster).threads());
    Dataset dataset = load_dataset(options.data, cluster);
    const auto model = load_model(options, dataset);
    const Split& split = options.training_images ? dataset.train : dataset.test;
    REQUIRE(split.size() > 0, "'{}' has no {} images", options.data,
            options.training_images ? "training" : "test");
    Scorer scorer(*model, dataset, split, static_cast<std::size_t>(options.batch));
    say(Confusion(*model, scorer).text());
}

}  // namespace

void add_eval_command(CLI::App& program, Commands& commands) {
    const auto options = std::make_shared<EvalOptions>();
    OptionTable table;
    table.text("model-file", options->model_file, "FILE", "a model of `wasp train --save-model`");
    table.required();
    table.text("data", options->data, "FILE", "labelled images (HDF5)");
    table.required();
    table.flag("training-images", options->training_images, "instead of the test images");
    table.whole("batch", options->batch, {1, 1 << 20}, "images at once");
    add_command(program, commands, "eval",
                "accuracy, loss, table of classes and confusion matrix of a model",
                std::move(table), [options](Arguments& /*arguments*/) {
                    run_on_threads(1, [&](Cluster& cluster) { evaluate(cluster, *options); });
                    return 0;
                });
}

}  // namespace wasp
