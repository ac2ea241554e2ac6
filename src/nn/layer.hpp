/// Private to nn: what a Network is made of. A layer holds no numbers; weights, activations and
/// whatever a backward pass needs of the forward pass lie in buffers of the Network, so that all
/// threads share one set of layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tensor/kernels.hpp"

namespace wasp::nn {

/// Dimensions of one image's activations (C,H,W).
struct Shape {
    int channels = 1, height = 1, width = 1;
    int count() const { return channels * height * width; }
};

/// Activations of `groups` lane groups, or gradients with respect to them.
struct Activations {
    float* data = nullptr;  ///< null: nobody wants them
    Shape shape;
    int halo = 0;  ///< of zeros around each plane
    int lanes = 0, groups = 0;
    std::ptrdiff_t group_step = 0;  ///< floats

    Planes planes(int group) const;
    Features features() const;  ///< the same, flattened in PyTorch's order; without a halo only
    std::size_t floats_per_group() const;
};

/// What one call of a layer works on.
struct Work {
    const Kernels& kernels;
    Activations x, y;    ///< in and out; the same where the layer works in place
    Activations dx, dy;  ///< backward only
    const float* weights = nullptr;
    float* gradients = nullptr;  ///< backward only: set, or where `add` added to
    bool add = false;
    float* memo = nullptr;         ///< what forward leaves for backward; see Layer::memo_floats()
    std::ptrdiff_t memo_step = 0;  ///< floats from one group's memo to the next one's
    bool training = false;         ///< false: inference
    std::int64_t step = 0;         ///< training steps so far
    std::int64_t first_image = 0;  ///< of the first group, in the mini-batch
};

/// One of a layer's tensors of weights.
struct ParameterShape {
    std::string name;
    std::vector<std::size_t> dimensions;
    std::size_t fan_in = 1;
    std::size_t count() const;
};

class Layer {
public:
    Layer(Shape in, Shape out) : input(in), output(out) {}
    Layer(const Layer&) = delete;
    Layer& operator=(const Layer&) = delete;
    virtual ~Layer() = default;

    virtual void forward(const Work& work) const = 0;
    virtual void backward(const Work& work) const = 0;

    virtual std::vector<ParameterShape> parameters() const { return {}; }  ///< in flat order
    virtual double multiplications() const { return 0; }  ///< of forward, for one image

    // What the Network must provide.
    virtual bool in_place() const { return false; }
    virtual bool needs_input() const { return false; }       ///< in backward()
    virtual bool needs_output() const { return false; }      ///< in backward()
    virtual int halo() const { return 0; }                   ///< around its input
    virtual bool over_many_groups() const { return false; }  ///< faster so than one by one
    virtual std::size_t memo_floats(const Kernels& /*kernels*/) const { return 0; }  ///< a group

    const Shape input, output;
};

}  // namespace wasp::nn
