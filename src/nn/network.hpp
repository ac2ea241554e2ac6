/// Private to nn: a Model that is a chain of layers, computed with the batch in the vector lanes.
#pragma once

#include <memory>
#include <vector>

#include "base/aligned.hpp"
#include "nn/model.hpp"
#include "plan.hpp"
#include "worker.hpp"

namespace wasp::nn {

/// Threads share out the lane groups of a batch. Each sums its own gradient; these are added in the
/// order of the threads, so that the same number of threads gives the same bits.
class Network : public Model {
public:
    /// layers: the last one makes the logits.
    Network(std::string name, const ModelSetup& setup, Layers layers);

    Score train_step(const ImageBatch& batch) override;
    void visit(State& state) override { state.value("step", step_); }
    Score evaluate(const ImageBatch& batch, std::span<float> logits) override;

    std::span<float> weights() override { return weights_; }
    std::span<float> gradients() override { return gradients_; }
    std::span<float> state() override { return {}; }
    const std::vector<ParameterView>& parameters() const override { return parameters_; }

    const std::string& name() const override { return name_; }
    ImageShape image_shape() const override { return image_; }
    int classes() const override { return layers_.back()->output.count(); }
    double flops_per_image() const override;

private:
    struct Thread {
        std::unique_ptr<Worker> worker;
        AlignedFloats gradients;  // empty for the first, which sums into gradients_
        Score score;
    };

    Score run(const Task& task);
    void add_gradients(int threads);

    std::string name_;
    ImageShape image_;
    const Kernels& kernels_;
    Layers layers_;
    Plan plan_;
    AlignedFloats weights_, gradients_;
    std::vector<ParameterView> parameters_;
    std::vector<Thread> threads_;
    std::int64_t step_ = 0;
};

}  // namespace wasp::nn
