/// How well a model does on a fixed set of images.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/cluster.hpp"
#include "data/dataset.hpp"
#include "nn/model.hpp"

namespace wasp {

class Scorer {
public:
    /// images: indices into `split`; batch: images the model takes at once.
    Scorer(Model& model, const Dataset& dataset, const Split& split,
           std::vector<std::uint32_t> images, std::size_t batch);
    /// All images of `split`.
    Scorer(Model& model, const Dataset& dataset, const Split& split, std::size_t batch);

    std::size_t images() const { return images_.size(); }
    int label(std::size_t index) const { return split_.labels[images_[index]]; }

    /// Of the model with its present weights, on the images [first, first + count).
    /// logits: (count, classes) to be written, or empty.
    Score score(std::size_t first, std::size_t count, std::span<float> logits = {});
    Score score_all() { return score(0, images()); }

    /// Collective. The same, each rank scoring its part; all ranks hold the same weights.
    Score score_together(Cluster& cluster);

private:
    Model& model_;
    Split split_;
    BatchMaker maker_;
    std::vector<std::uint32_t> images_;
    std::size_t batch_;
};

}  // namespace wasp
