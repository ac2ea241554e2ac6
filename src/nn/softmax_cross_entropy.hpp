/// The loss: −log softmax(logits)[label], in nats.
#pragma once

#include <span>

#include "layer.hpp"
#include "nn/model.hpp"

namespace wasp::nn {

/// Sums over the images of `logits`, (groups, classes, lanes); the last group may have less images
/// than lanes.   labels: as many as images.
/// gradient: as logits; becomes factor · (softmax(logits) − one-hot label), and 0 where a lane has
/// no image.
Score softmax_cross_entropy(const Activations& logits, std::span<const int> labels, float factor,
                            const Activations& gradient);

}  // namespace wasp::nn
