/// A model of which only the size matters: for predictions of times without gradients.
#pragma once

#include <string>
#include <vector>

#include "nn/model.hpp"

namespace wasp {

class StandIn final : public Model {
public:
    StandIn(std::string name, std::size_t floats, const ModelSetup& setup)
        : name_(std::move(name)),
          image_(setup.image),
          classes_(setup.classes),
          weights_(floats),
          gradients_(floats),
          parameters_{{.name = "weights", .shape = {floats}, .count = floats}} {}

    Score train_step(const ImageBatch& batch) override { return evaluate(batch, {}); }
    Score evaluate(const ImageBatch& batch, std::span<float> /*logits*/) override {
        return {.loss_sum = 0, .correct = 0, .images = static_cast<std::int64_t>(batch.size())};
    }
    std::span<float> weights() override { return weights_; }
    std::span<float> gradients() override { return gradients_; }
    std::span<float> state() override { return {}; }
    const std::vector<ParameterView>& parameters() const override { return parameters_; }
    const std::string& name() const override { return name_; }
    ImageShape image_shape() const override { return image_; }
    int classes() const override { return classes_; }
    double flops_per_image() const override { return 0; }

private:
    std::string name_;
    ImageShape image_;
    int classes_;
    std::vector<float> weights_, gradients_;
    std::vector<ParameterView> parameters_;
};

}  // namespace wasp
