#include "worker.hpp"

#include <algorithm>

#include "softmax_cross_entropy.hpp"

namespace wasp::nn {

Worker::Worker(const Plan& plan, const Kernels& kernels)
    : plan_(plan),
      kernels_(kernels),
      memory_(plan.floats),
      images_(static_cast<std::size_t>(kernels.lanes)) {}

Score Worker::run(const Task& task, int begin, int end, std::span<float> gradients,
                  const std::function<void()>& poll) {
    Score total;
    for (int first = begin; first < end; first += plan_.groups) {
        const Groups chunk{first, 0, std::min(plan_.groups, end - first)};
        const Score score = run_chunk(task, chunk, gradients, first > begin, poll);
        total.loss_sum += score.loss_sum;
        total.correct += score.correct;
        total.images += score.images;
    }
    return total;
}

Score Worker::run_chunk(const Task& task, Groups chunk, std::span<float> gradients, bool add,
                        const std::function<void()>& poll) {
    const std::size_t batched = plan_.first_batched, stages = plan_.stages.size();
    for (int i = 0; i < chunk.groups; ++i) {
        load(task, one(chunk, i));
        forward(task, one(chunk, i), 0, batched);
        poll();
    }
    forward(task, chunk, batched, stages);
    const Score result = score(task, chunk);
    poll();
    if (!task.training) return result;
    backward(task, chunk, batched, stages, gradients, add);
    poll();
    for (int i = 0; i < chunk.groups; ++i) {
        // What lies between two layers that take turns was overwritten by the last group's.
        backward(task, one(chunk, i), 0, batched, gradients, add || i > 0);
        poll();
    }
    return result;
}

void Worker::load(const Task& task, Groups group) {
    const auto first = static_cast<std::size_t>(group.first * kernels_.lanes);
    for (std::size_t lane = 0; lane < images_.size(); ++lane) {
        // Lanes without an image compute with the first one's; their loss doesn't count.
        const std::size_t image = first + lane < task.batch.size() ? first + lane : 0;
        images_[lane] = task.batch.images[image];
    }
    const auto load =
        task.batch.pixel_type == PixelType::uint8 ? kernels_.load_uint8 : kernels_.load_float32;
    const Planes to = view(plan_.stages.front().x, group).planes(0);
    load(images_.data(), task.batch.scale.data(), task.batch.shift.data(), to);
}

void Worker::forward(const Task& task, Groups groups, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
        plan_.stages[i].layer->forward(work(task, plan_.stages[i], groups));
}

void Worker::backward(const Task& task, Groups groups, std::size_t begin, std::size_t end,
                      std::span<float> gradients, bool add) {
    for (std::size_t i = end; i-- > begin;) {
        const Stage& stage = plan_.stages[i];
        Work work = this->work(task, stage, groups);
        work.gradients = gradients.data() + stage.weights;
        work.add = add;
        stage.layer->backward(work);
    }
}

Score Worker::score(const Task& task, Groups chunk) {
    const Stage& last = plan_.stages.back();
    const Activations logits = view(last.y, chunk);
    const auto lanes = static_cast<std::size_t>(kernels_.lanes);
    const auto classes = static_cast<std::size_t>(logits.shape.count());
    const std::size_t first = static_cast<std::size_t>(chunk.first) * lanes;
    const std::size_t images =
        std::min(static_cast<std::size_t>(chunk.groups) * lanes, task.batch.size() - first);
    if (!task.logits.empty()) {
        const Features from = logits.features();
        for (std::size_t i = 0; i < images; ++i)
            for (std::size_t c = 0; c < classes; ++c)
                task.logits[(first + i) * classes + c] =
                    from.data[(i / lanes) * static_cast<std::size_t>(from.group_step) + c * lanes +
                              i % lanes];
    }
    const float share = 1 / static_cast<float>(task.batch.size());
    return softmax_cross_entropy(logits, task.batch.labels.subspan(first, images), share,
                                 view(last.dy, chunk));
}

Work Worker::work(const Task& task, const Stage& stage, Groups groups) {
    return {.kernels = kernels_,
            .x = view(stage.x, groups),
            .y = view(stage.y, groups),
            .dx = view(stage.dx, groups),
            .dy = view(stage.dy, groups),
            .weights = task.weights.data() + stage.weights,
            .memo = view(stage.memo, groups).data,
            .memo_step = static_cast<std::ptrdiff_t>(stage.memo.floats),
            .training = task.training,
            .step = task.step,
            .first_image = std::int64_t{groups.first} * kernels_.lanes};
}

Activations Worker::view(const Place& place, Groups groups) {
    if (place.slots == 0) return {};
    const auto slot = static_cast<std::size_t>(place.slots > 1 ? groups.slot : 0);
    return {.data = memory_.data() + place.offset + slot * place.floats,
            .shape = place.shape,
            .halo = place.halo,
            .lanes = kernels_.lanes,
            .groups = groups.groups,
            .group_step = static_cast<std::ptrdiff_t>(place.floats)};
}

Worker::Groups Worker::one(Groups chunk, int index) const {
    return {chunk.first + index, chunk.slot + index, 1};
}

}  // namespace wasp::nn
