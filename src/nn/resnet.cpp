#include "resnet.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "initialise.hpp"
#include "softmax_cross_entropy.hpp"

namespace wasp::nn {

namespace {

std::unique_ptr<ConvolutionEngine> make_engine(const ModelSetup& setup) {
    const Kernels& kernels = wasp::kernels(setup.simd);
    const auto libraries = convolution_libraries(kernels, setup.precision);
    REQUIRE(!libraries.empty(),
            "bf16 takes oneDNN and a CPU with AVX-512-BF16 or AMX: use --precision float32");
    return make_convolution_engine(setup.library.value_or(libraries.front()), kernels,
                                   setup.precision);
}

std::size_t output_bytes(ActivationLayout layout, const ConvolutionShape& shape) {
    return whole_lines(layout.bytes(shape.images, shape.outputs, shape.output_pixels()));
}

/// Of the three buffers for gradients of activations.
std::size_t gradient_bytes(const ConvolutionEngine& engine, const ResNetPlan& plan) {
    std::size_t largest = 0;
    for (const auto& shape : plan.shapes())
        largest = std::max(largest, output_bytes(engine.layout(), shape));
    return largest;
}

std::size_t activation_bytes(const ConvolutionEngine& engine, const ResNetPlan& plan,
                             const ImageShape& image) {
    const auto layout = engine.layout();
    const auto& stem = plan.stem.convolution;
    std::size_t bytes = whole_lines(engine.pixel_bytes(stem.images, image)) +
                        2 * output_bytes(layout, stem) + 3 * gradient_bytes(engine, plan);
    for (const auto& block : plan.blocks) {
        for (const auto& unit : block.units) bytes += 2 * output_bytes(layout, unit.convolution);
        if (block.shortcut == Shortcut::projection)
            bytes += output_bytes(layout, block.projection.convolution);
    }
    return bytes;
}

}  // namespace

ResNet::ResNet(std::string name, const ModelSetup& setup)
    : name_(std::move(name)),
      image_(setup.image),
      classes_(setup.classes),
      largest_batch_(setup.largest_batch),
      plan_(plan_resnet(name_, setup)),
      kernels_(kernels(setup.simd)),
      engine_(make_engine(setup)),
      layout_(engine_->layout()),
      parameter_memory_(2 * whole_lines(plan_.weights * sizeof(float))),
      activation_memory_(activation_bytes(*engine_, plan_, image_)),
      state_(plan_.state),
      stem_(make_layer(plan_.stem, setup.convolutions)) {
    auto* floats = reinterpret_cast<float*>(parameter_memory_.data());
    weights_ = {floats, plan_.weights};
    gradients_ = {floats + whole_lines(plan_.weights * sizeof(float)) / sizeof(float),
                  plan_.weights};
    make_blocks(setup.convolutions);
    place_activations();
    initialise_weights(setup);

    const auto batch = static_cast<std::size_t>(largest_batch_);
    features_.resize(batch * static_cast<std::size_t>(plan_.features));
    feature_gradients_.resize(features_.size());
    logits_.resize(batch * static_cast<std::size_t>(classes_));
    logit_gradients_.resize(logits_.size());
}

ResNet::Layer ResNet::make_layer(const ResNetUnit& unit, ConvolutionAlgorithm algorithm) {
    return {.unit = &unit,
            .convolution = engine_->make(unit.convolution, algorithm),
            .norm = BatchNorm(kernels_, layout_, unit.convolution.outputs)};
}

void ResNet::make_blocks(ConvolutionAlgorithm algorithm) {
    for (const auto& plan : plan_.blocks) {
        Block block{.plan = &plan, .layers = {}, .projection = nullptr};
        for (const auto& unit : plan.units) block.layers.push_back(make_layer(unit, algorithm));
        if (plan.shortcut == Shortcut::projection)
            block.projection = std::make_unique<Layer>(make_layer(plan.projection, algorithm));
        blocks_.push_back(std::move(block));
    }
}

void ResNet::place_activations() {
    std::byte* free = activation_memory_.data();
    const auto take = [&](std::size_t bytes) { return std::exchange(free, free + bytes); };
    pixels_ = take(whole_lines(engine_->pixel_bytes(largest_batch_, image_)));
    for (auto& buffer : gradient_memory_) buffer = take(gradient_bytes(*engine_, plan_));
    const auto place = [&](Layer& layer) {
        const std::size_t bytes = output_bytes(layout_, layer.unit->convolution);
        layer.convolved = take(bytes);
        layer.out = take(bytes);
    };
    place(stem_);
    std::byte* x = stem_.out;
    for (auto& block : blocks_) {
        block.x = x;
        for (auto& layer : block.layers) place(layer);
        if (block.projection) {
            block.projection->convolved =
                take(output_bytes(layout_, block.projection->unit->convolution));
            block.projection->out = gradient_memory_[0];  // which the forward pass has no use for
        }
        x = block.layers.back().out;
    }
    ASSERT(free <= activation_memory_.data() + activation_memory_.size(),
           "more activations than planned");
}

void ResNet::initialise_weights(const ModelSetup& setup) {
    std::ranges::fill(gradients_, 0.0F);
    std::ranges::fill(state_, 0.0F);
    for (const auto& parameter : plan_.parameters) {
        const auto values = weights_.subspan(parameter.offset, parameter.count);
        const bool is_head = parameter.offset >= plan_.head_weights;
        std::size_t fan_in = parameter.count / parameter.shape.front();
        if (is_head) fan_in = static_cast<std::size_t>(plan_.features);
        if (is_head || parameter.shape.size() > 1)
            initialise(setup, {parameter.name, parameter.shape, fan_in}, values);
        else  // of a normalisation
            std::ranges::fill(values, parameter.name.ends_with(".weight") ? 1.0F : 0.0F);
    }
    for (const auto& view : plan_.states)
        if (view.name.ends_with(".running_var"))
            std::fill_n(state_.begin() + static_cast<std::ptrdiff_t>(view.offset), view.count,
                        1.0F);
}

BatchNormPair<const float> ResNet::scale(const ResNetUnit& unit) const {
    return {weights_.subspan(unit.gamma(), unit.channels()),
            weights_.subspan(unit.beta(), unit.channels())};
}

RunningStatistics ResNet::statistics(const ResNetUnit& unit, double weight) {
    const auto state = std::span(state_).subspan(unit.statistics, 2 * unit.channels());
    return {state.first(unit.channels()), state.last(unit.channels()), weight};
}

void ResNet::check(const ImageBatch& batch) const {
    REQUIRE(batch.size() <= static_cast<std::size_t>(largest_batch_),
            "a mini-batch of {} images for a network made for {}", batch.size(), largest_batch_);
}

Score ResNet::train_step(const ImageBatch& batch) {
    constexpr double weight = 0.1;  // of the batch in the running statistics: PyTorch's default
    check(batch);
    run_forward(batch, weight);
    const Score score = loss(batch.labels, 1 / static_cast<float>(images_));
    run_backward();
    return score;
}

void ResNet::observe(const ImageBatch& batch, double weight) {
    check(batch);
    run_forward(batch, weight);
}

Score ResNet::evaluate(const ImageBatch& batch, std::span<float> logits) {
    Score total;
    const auto classes = static_cast<std::size_t>(classes_);
    for (std::size_t first = 0; first < batch.size();) {
        const std::size_t count =
            std::min(batch.size() - first, static_cast<std::size_t>(largest_batch_));
        ImageBatch part = batch;
        part.images = batch.images.subspan(first, count);
        part.labels = batch.labels.subspan(first, count);
        run_forward(part, std::nullopt);
        if (!logits.empty())
            std::copy_n(logits_.begin(), count * classes, logits.subspan(first * classes).begin());
        const Score score = loss(part.labels, 1);
        total.loss_sum += score.loss_sum;
        total.correct += score.correct;
        total.images += score.images;
        first += count;
    }
    return total;
}

void ResNet::run_forward(const ImageBatch& batch, StatisticsWeight weight) {
    ASSERT(batch.size() > 0 && batch.labels.size() == batch.size(), "{} images with {} labels",
           batch.size(), batch.labels.size());
    images_ = static_cast<int>(batch.size());
    engine_->load_pixels(batch, image_, pixels_);
    forward(stem_, pixels_, weight, {});
    for (auto& block : blocks_) {
        const std::byte* x = block.x;
        for (auto& layer : block.layers) {
            const bool last = &layer == &block.layers.back();
            const std::byte* residual = last ? shortcut(block, weight) : nullptr;
            forward(layer, x, weight, {.residual = residual});
            x = layer.out;
        }
    }
    const Layer& top = blocks_.back().layers.back();
    global_mean(layout_, {images_, plan_.features, top.unit->convolution.output_pixels()}, top.out,
                features_.data());
    const float* head = &weights_[plan_.head_weights];
    dense({images_, plan_.features, classes_}, features_.data(), head,
          head + std::ptrdiff_t{classes_} * plan_.features, logits_.data());
    between_layers();
}

/// norm: what is special about it; the rest follows from the layer.
void ResNet::forward(Layer& layer, const std::byte* x, StatisticsWeight weight,
                     const BatchNorm::Forward& norm) {
    const ResNetUnit& unit = *layer.unit;
    layer.convolution->forward(images_, x, &weights_[unit.weights], layer.convolved);
    BatchNorm::Forward work = norm;
    work.images = images_;
    work.pixels = unit.convolution.output_pixels();
    work.x = layer.convolved;
    work.y = layer.out;
    if (weight)
        layer.norm.forward(work, scale(unit), statistics(unit, *weight));
    else
        layer.norm.inference(work, scale(unit), statistics(unit, 0));
    between_layers();
}

const std::byte* ResNet::shortcut(Block& block, StatisticsWeight weight) {
    switch (block.plan->shortcut) {
        case Shortcut::identity:
            break;
        case Shortcut::padded:
            padded_shortcut(layout_, padded(block), block.x, gradient_memory_[0]);
            return gradient_memory_[0];
        case Shortcut::projection:
            forward(*block.projection, block.x, weight, {.relu = false});
            return block.projection->out;
    }
    return block.x;
}

PaddedShortcut ResNet::padded(const Block& block) const {
    const auto& first = block.plan->units.front().convolution;
    return {.images = images_,
            .channels = first.inputs,
            .new_channels = block.plan->units.back().convolution.outputs,
            .height = first.height,
            .width = first.width};
}

Score ResNet::loss(std::span<const int> labels, float factor) {
    const Shape shape{classes_, 1, 1};
    const auto as_activations = [&](AlignedFloats& values) {
        return Activations{.data = values.data(),
                           .shape = shape,
                           .lanes = 1,
                           .groups = images_,
                           .group_step = classes_};
    };
    return softmax_cross_entropy(as_activations(logits_), labels, factor,
                                 as_activations(logit_gradients_));
}

void ResNet::run_backward() {
    const auto head = static_cast<std::ptrdiff_t>(plan_.head_weights);
    const std::ptrdiff_t bias = head + std::ptrdiff_t{classes_} * plan_.features;
    dense_gradient({images_, plan_.features, classes_}, features_.data(), weights_.data() + head,
                   logit_gradients_.data(), gradients_.data() + head, gradients_.data() + bias,
                   feature_gradients_.data());
    gradient_ready(plan_.head_weights, plan_.weights - plan_.head_weights);

    Gradients gradients{gradient_memory_[0], gradient_memory_[1], gradient_memory_[2]};
    const auto& top = plan_.blocks.back().units.back().convolution;
    global_mean_gradient(layout_, {images_, plan_.features, top.output_pixels()},
                         feature_gradients_.data(), gradients.main);
    between_layers();
    for (std::size_t i = blocks_.size(); i-- > 0;) backward(blocks_[i], gradients);
    backward(stem_, pixels_,
             {.y = stem_.out,
              .dy = gradients.main,
              .more = gradients.two_terms ? gradients.other : nullptr,
              .dx = gradients.spare},
             nullptr);
}

void ResNet::backward(Block& block, Gradients& gradients) {
    std::byte* const sum = gradients.main;  // becomes the gradient at the block's addition
    std::byte *dy = gradients.spare, *free = gradients.other;
    for (std::size_t i = block.layers.size(); i-- > 0;) {
        Layer& layer = block.layers[i];
        const std::byte* x = i > 0 ? block.layers[i - 1].out : block.x;
        if (i + 1 == block.layers.size())
            backward(layer, x,
                     {.y = layer.out,
                      .dy = sum,
                      .more = gradients.two_terms ? gradients.other : nullptr,
                      .dx = dy},
                     free);
        else
            backward(layer, x, {.dy = dy, .dx = dy}, free);
        std::swap(dy, free);
    }
    switch (block.plan->shortcut) {
        case Shortcut::identity:
            gradients = {dy, sum, free, true};
            break;
        case Shortcut::padded:
            padded_shortcut_gradient(layout_, padded(block), sum, free);
            gradients = {dy, free, sum, true};
            break;
        case Shortcut::projection:
            backward(*block.projection, block.x, {.relu = false, .dy = sum, .dx = sum}, free);
            gradients = {dy, free, sum, true};
            break;
    }
}

/// Through the normalisation, then the convolution.   x: of the convolution
void ResNet::backward(Layer& layer, const std::byte* x, const BatchNorm::Backward& norm,
                      std::byte* dx) {
    const ResNetUnit& unit = *layer.unit;
    BatchNorm::Backward work = norm;
    work.images = images_;
    work.pixels = unit.convolution.output_pixels();
    work.x = layer.convolved;
    layer.norm.backward(work, scale(unit).gamma,
                        {gradients_.subspan(unit.gamma(), unit.channels()),
                         gradients_.subspan(unit.beta(), unit.channels())});
    layer.convolution->backward_weights(images_, x, work.dx, &gradients_[unit.weights]);
    gradient_ready(unit.weights, unit.count());
    between_layers();
    if (dx == nullptr) return;
    layer.convolution->backward_data(images_, work.dx, &weights_[unit.weights], dx);
    between_layers();
}

std::vector<std::pair<std::string, double>> ResNet::facts() const {
    return {{"activation_reorders", static_cast<double>(engine_->activation_reorders())},
            {"bytes", static_cast<double>(parameter_memory_.size() + activation_memory_.size() +
                                          engine_->workspace_bytes())}};
}

std::size_t estimate_resnet_bytes(std::string_view name, const ModelSetup& setup) {
    const ResNetPlan plan = plan_resnet(name, setup);
    const auto engine = make_engine(setup);
    const auto shapes = plan.shapes();
    return (2 * plan.weights + plan.state) * sizeof(float) +
           activation_bytes(*engine, plan, setup.image) + engine->estimate_workspace(shapes);
}

}  // namespace wasp::nn
