/// Private to nn: where everything lies in the memory of one thread, and in the flat weights.
#pragma once

#include <memory>
#include <vector>

#include "layer.hpp"

namespace wasp::nn {

using Layers = std::vector<std::unique_ptr<Layer>>;

/// Where the activations between two layers lie, or their gradients.
struct Place {
    Shape shape = {};
    int halo = 0;
    int slots = 0;           ///< groups that have room; 1: they take turns; 0: not wanted
    std::size_t offset = 0;  ///< floats
    std::size_t floats = 0;  ///< a group
};

/// One layer and its surroundings. Layers that work in place have x = y and dx = dy.
struct Stage {
    const Layer* layer = nullptr;
    Place x, y, dx, dy;
    Place memo;
    std::size_t weights = 0;  ///< offset
};

struct Plan {
    std::vector<Stage> stages;
    std::size_t first_batched = 0;  ///< stages from here on work on all groups of a chunk
    int groups = 0;                 ///< lane groups in a chunk
    std::size_t floats = 0;         ///< memory of a thread
    std::size_t weights = 0;        ///< trainable floats
};

/// groups: the largest chunk.
Plan make_plan(const Layers& layers, const Kernels& kernels, int groups);

}  // namespace wasp::nn
