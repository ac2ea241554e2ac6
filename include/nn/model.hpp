/// A network over three flat buffers. Knows nothing of ranks, files or clocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/state.hpp"
#include "tensor/convolution_operator.hpp"
#include "tensor/image_batch.hpp"

namespace wasp {

struct Score {
    double loss_sum = 0;       ///< cross-entropy in nats, summed over the images
    std::int64_t correct = 0;  ///< images whose largest logit is the label
    std::int64_t images = 0;

    double loss() const { return loss_sum / static_cast<double>(images); }
    double accuracy() const { return static_cast<double>(correct) / static_cast<double>(images); }
};

/// A named slice of the flat buffers, e.g. "conv1.weight" (O,I,H,W), as PyTorch names and lays it
/// out.
struct ParameterView {
    std::string name;
    std::vector<std::size_t> shape;
    std::size_t offset = 0, count = 0;  ///< floats
};

class Model {
public:
    virtual ~Model() = default;

    /// Forward and backward over one mini-batch. On return gradients() is the MEAN gradient of the
    /// loss.
    virtual Score train_step(const ImageBatch& batch) = 0;

    /// Forward only, as in inference. Leaves weights and gradients alone.
    /// logits: (batch, classes) to be written, or empty.
    virtual Score evaluate(const ImageBatch& batch, std::span<float> logits = {}) = 0;

    /// Forward as in a training step, for the running statistics alone: each becomes
    /// s + weight·(that of the batch − s). With the weights 1, 1/2, 1/3, … the mean of the batches.
    virtual void observe(const ImageBatch& batch, double weight) {
        static_cast<void>(batch);
        static_cast<void>(weight);
    }

    virtual std::span<float> weights() = 0;    ///< every trainable float, layer by layer
    virtual std::span<float> gradients() = 0;  ///< the same order
    virtual std::span<float> state() = 0;      ///< running statistics; empty where there are none
    virtual const std::vector<ParameterView>& parameters() const = 0;  ///< views of weights()
    /// Views of state(), e.g. "bn1.running_mean" (C).
    virtual const std::vector<ParameterView>& state_views() const {
        static const std::vector<ParameterView> none;
        return none;
    }

    /// What training steps depend on besides weights() and state().
    virtual void visit(State& state) { static_cast<void>(state); }

    virtual const std::string& name() const = 0;
    virtual ImageShape image_shape() const = 0;
    virtual int classes() const = 0;
    virtual double flops_per_image()
        const = 0;  ///< multiplications and additions of one training step

    /// What this model counts about itself, for benchmarks: e.g. activation_reorders, 0.
    virtual std::vector<std::pair<std::string, double>> facts() const { return {}; }

    /// Called between layers by the thread that called train_step(), so that a rank can serve
    /// others.
    void set_between_layers(std::function<void()> call) { between_layers_ = std::move(call); }

    /// Called by train_step() as soon as gradients()[offset, offset + count) are final, so that
    /// they can leave while the rest is computed. The slices cover gradients() exactly once a step;
    /// a model may report all of them in one call at its end. weights() must stay as they are until
    /// train_step() returns: the layers below still read theirs.
    using GradientReady = std::function<void(std::size_t offset, std::size_t count)>;
    void set_gradient_ready(GradientReady call) { gradient_ready_ = std::move(call); }

protected:
    void between_layers() const {
        if (between_layers_) between_layers_();
    }
    void gradient_ready(std::size_t offset, std::size_t count) const {
        if (gradient_ready_) gradient_ready_(offset, count);
    }

private:
    std::function<void()> between_layers_;
    GradientReady gradient_ready_;
};

enum class Initialisation {
    pytorch,  ///< uniform in ±1/sqrt(fan_in), weights and biases: torch.nn's default
    he,       ///< normal with variance 2/fan_in, biases 0.   Source: He et al. 2015, eq. 10
};

struct ModelSetup {
    ImageShape image;
    int classes = 10;
    int largest_batch = 64;  ///< images; buffers are made for it once
    std::uint64_t seed = 1;
    Initialisation initialisation = Initialisation::pytorch;
    std::string_view simd =
        {};  ///< instruction set, see tensor/kernels.hpp; empty: the machine's best
    // Of the ResNets only:
    Precision precision = Precision::float32;  ///< of the activations
    ConvolutionAlgorithm convolutions = ConvolutionAlgorithm::measured;
    std::optional<ConvolutionLibrary> library = {};  ///< empty: the best for this CPU
};

/// Error: make_model() does not know `name`; lists those it knows.
void check_model_name(std::string_view name);

/// Error: unknown name (lists the known ones), or images that the network can't take.
std::unique_ptr<Model> make_model(std::string_view name, const ModelSetup& setup);

/// Memory that make_model(name, setup) and its train_step() will take, in bytes, found without
/// taking it.   Error: as make_model().
std::size_t estimate_bytes(std::string_view name, const ModelSetup& setup);

/// Of make_model(name, setup)->weights(), found without making it.   Error: as make_model().
std::size_t count_weights(std::string_view name, const ModelSetup& setup);

/// As make_model(name, setup)->flops_per_image().   Error: as make_model().
double flops_per_image(std::string_view name, const ModelSetup& setup);

/// The images that the network was made for: (1,28,28) or (3,32,32).   Error: as make_model().
ImageShape usual_image(std::string_view name);

/// The table of models as text, one line each: name, parameters, what it is.
std::string model_help();

}  // namespace wasp
