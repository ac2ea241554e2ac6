/// Private to nn: one thread's part of a training step.
#pragma once

#include <functional>
#include <span>

#include "base/aligned.hpp"
#include "nn/model.hpp"
#include "plan.hpp"

namespace wasp::nn {

/// One call of Model::train_step() or Model::evaluate().
struct Task {
    const ImageBatch& batch;
    std::span<const float> weights;
    std::span<float> logits;  ///< (images, classes), or empty
    bool training = false;
    std::int64_t step = 0;
};

/// Takes lane groups in chunks: the first layers group by group, so that a group's activations stay
/// in the cache from layer to layer; the linear layers over the whole chunk, so that a weight once
/// loaded meets many images; and backwards likewise.
class Worker {
public:
    Worker(const Plan& plan, const Kernels& kernels);

    /// Lane groups [begin, end) of the batch; sets `gradients` to their sum when training.
    /// poll: called between layers.
    Score run(const Task& task, int begin, int end, std::span<float> gradients,
              const std::function<void()>& poll);

private:
    /// Groups [first, first + groups) of the batch, in slots [slot, slot + groups) of the memory.
    struct Groups {
        int first, slot, groups;
    };

    Score run_chunk(const Task& task, Groups chunk, std::span<float> gradients, bool add,
                    const std::function<void()>& poll);
    void load(const Task& task, Groups group);
    void forward(const Task& task, Groups groups, std::size_t begin, std::size_t end);
    void backward(const Task& task, Groups groups, std::size_t begin, std::size_t end,
                  std::span<float> gradients, bool add);
    Score score(const Task& task, Groups chunk);

    Work work(const Task& task, const Stage& stage, Groups groups);
    Activations view(const Place& place, Groups groups);
    Groups one(Groups chunk, int index) const;

    const Plan& plan_;
    const Kernels& kernels_;
    AlignedFloats memory_;
    std::vector<const std::byte*> images_;  // of one group
};

}  // namespace wasp::nn
