/// Stochastic gradient descent with momentum: what a worker makes of its gradient.
/// u = μ·u − η·(g + λ·x); the step is u, or with Nesterov's momentum μ·u − η·(g + λ·x) once more.
/// Source: Sutskever et al. 2013, eq. 1–4; for a constant η the same as torch.optim.SGD.
#pragma once

#include <cstddef>
#include <span>

#include "base/aligned.hpp"
#include "base/state.hpp"

namespace wasp {

struct SgdSetup {
    float momentum = 0;      ///< μ, in [0, 1)
    float weight_decay = 0;  ///< λ
    bool nesterov = false;
};

class Sgd {
public:
    Sgd(std::size_t weights, const SgdSetup& setup);

    void set_learning_rate(float rate) { learning_rate_ = rate; }
    float learning_rate() const { return learning_rate_; }
    /// For protocols that come with a momentum of their own; before the first update.
    void set_momentum(float momentum, bool nesterov);
    float momentum() const { return setup_.momentum; }
    bool nesterov() const { return setup_.nesterov; }

    /// The vector to ADD to the weights.   gradients, weights, result: (n). Valid until the next
    /// call.
    std::span<const float> update(std::span<const float> gradients, std::span<const float> weights);

    /// The same for the part of them that begins at `offset`; each part once a step.
    std::span<const float> update_slice(std::size_t offset, std::span<const float> gradients,
                                        std::span<const float> weights);

    /// The same without momentum: −η·(g + λ·x). The velocity stays.
    std::span<const float> descent(std::span<const float> gradients,
                                   std::span<const float> weights);

    std::span<float> velocity() { return velocity_; }  ///< u, (n)
    void visit(State& state) { state.values("velocity", velocity()); }

private:
    SgdSetup setup_;
    float learning_rate_ = 0.01F;
    AlignedFloats velocity_, step_;  // step_: with Nesterov's momentum, or descent()
};

}  // namespace wasp
