#include "network.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "initialise.hpp"
#include "tensor/parallel.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp::nn {

namespace {

/// A chunk of that many images amortises the loading of the linear layers' weights, and what its
/// groups keep for the backward pass (200 kB each in LeNet-5) stays in the second-level cache.
constexpr int chunk_images = 64;

int lane_groups(std::size_t images, const Kernels& kernels) {
    return (static_cast<int>(images) + kernels.lanes - 1) / kernels.lanes;
}

int chunk_groups(const ModelSetup& setup, const Kernels& kernels) {
    const int images = std::clamp(setup.largest_batch, 1, chunk_images);
    return lane_groups(static_cast<std::size_t>(images), kernels);
}

}  // namespace

Network::Network(std::string name, const ModelSetup& setup, Layers layers)
    : name_(std::move(name)),
      image_(setup.image),
      kernels_(kernels(setup.simd)),
      layers_(std::move(layers)),
      plan_(make_plan(layers_, kernels_, chunk_groups(setup, kernels_))),
      weights_(plan_.weights),
      gradients_(plan_.weights) {
    std::size_t offset = 0;
    for (const auto& layer : layers_)
        for (const auto& parameter : layer->parameters()) {
            const std::size_t count = parameter.count();
            initialise(setup, parameter, std::span(weights_).subspan(offset, count));
            parameters_.push_back({parameter.name, parameter.dimensions, offset, count});
            offset += count;
        }
}

Score Network::train_step(const ImageBatch& batch) {
    ++step_;
    return run(
        {.batch = batch, .weights = weights_, .logits = {}, .training = true, .step = step_});
}

Score Network::evaluate(const ImageBatch& batch, std::span<float> logits) {
    ASSERT(logits.empty() || logits.size() == batch.size() * static_cast<std::size_t>(classes()),
           "room for {} logits", logits.size());
    return run({.batch = batch, .weights = weights_, .logits = logits});
}

Score Network::run(const Task& task) {
    ASSERT(task.batch.size() > 0 && task.batch.labels.size() == task.batch.size(),
           "{} images with {} labels", task.batch.size(), task.batch.labels.size());
    const int groups = lane_groups(task.batch.size(), kernels_);
    const int threads = std::min(available_threads(), groups);
    if (threads_.size() < static_cast<std::size_t>(threads))
        threads_.resize(static_cast<std::size_t>(threads));
    between_layers();
    parallel_threads(threads, [&](int index) {
        Thread& thread = threads_[static_cast<std::size_t>(index)];
        // Made by the thread that uses it: memory is on the node of who touches it first.
        if (!thread.worker) thread.worker = std::make_unique<Worker>(plan_, kernels_);
        if (index > 0 && task.training) thread.gradients.resize(plan_.weights);
        thread.score = thread.worker->run(
            task, groups * index / threads, groups * (index + 1) / threads,
            index == 0 ? std::span<float>(gradients_) : std::span<float>(thread.gradients), [&] {
                if (index == 0) between_layers();
            });
    });
    if (task.training) {
        add_gradients(threads);
        gradient_ready(0, gradients_.size());
    }
    between_layers();
    Score total;
    for (const auto& thread : std::span(threads_).first(static_cast<std::size_t>(threads))) {
        total.loss_sum += thread.score.loss_sum;
        total.correct += thread.score.correct;
        total.images += thread.score.images;
    }
    return total;
}

void Network::add_gradients(int threads) {
    for (int thread = 1; thread < threads; ++thread)
        axpy(1, threads_[static_cast<std::size_t>(thread)].gradients, gradients_);
}

double Network::flops_per_image() const {
    double flops = 0;
    bool first = true;  // needs no gradient of its input
    for (const auto& layer : layers_) {
        if (layer->multiplications() == 0) continue;
        flops += (first ? 4 : 6) * layer->multiplications();
        first = false;
    }
    return flops;
}

}  // namespace wasp::nn
