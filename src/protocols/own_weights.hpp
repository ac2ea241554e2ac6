/// The engine of the protocols whose workers own their weights: step alone; now and then publish
/// my model, look at others' and move towards a target made of them.
///     u = μ·u − η·g;   x += u;   every τ steps: publish, look, x += p(t)·(target − x)
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "peer_models.hpp"
#include "protocols/protocol.hpp"
#include "settings.hpp"

namespace wasp {

/// A neighbour's model, as last published.
struct Sight {
    float loss = 0;
    std::span<const float> model;
};

/// The ranks to look at, at most OwnRule::most_peers.   step, my_loss: as I have just published.
using Whom = std::function<std::span<const int>(std::int64_t step, float my_loss)>;

/// Makes the target of what I saw, at least one model. Returns how much of p(t) I move with;
/// 0: I am the target, and stay.
using Target =
    std::function<float(std::span<const Sight> seen, float my_loss, std::span<float> target)>;

/// What the pull towards the target changes: weights, at once; or the velocity, in every step
/// until the next look:   u += (1−μ)·p(t)·(target − x).
enum class Apply { position, velocity };

/// Step and then move, or move and then take the step that the gradient before it gave.
enum class Order { step_first, move_first };

/// What sets these protocols apart: whom to look at, how strongly to move, when.
struct OwnRule {
    Whom whom;
    std::size_t most_peers = 0;  ///< the same at every look if wait is set
    Target target;
    Ramp strength;  ///< p(t), over the run
    Apply apply = Apply::position;
    Order order = Order::step_first;
    std::int64_t period = 1;       ///< τ, steps between looks
    std::int64_t offset = 0;       ///< steps by which my looks come early: ranks take turns
    bool wait = false;             ///< for the others' publication of my number
    std::int64_t max_age = never;  ///< steps; an older publication is not followed
    double smoothing = 0;          ///< of the loss: f = smoothing·f + (1 − smoothing)·loss
    /// What trains my model together with other ranks, instead of SGD alone. The pull then takes
    /// the way of the gradient:   g −= (1−μ)·p(t)/η·(target − x), in the step after the look.
    std::shared_ptr<Protocol> inner = {};
    VisitState visit = {};  ///< what whom, target and inner keep
};

class OwnWeights final : public Protocol {
public:
    OwnWeights(const ProtocolSetup& setup, OwnRule rule);

    Exchange exchange(Replica replica, float loss) override;
    bool retire() override;
    void finish(Replica replica) override;
    void visit(State& state) override;
    std::int64_t version() const override { return step_; }  ///< steps of this rank

private:
    void smooth(float loss);
    std::span<const float> my_step(Replica replica);
    Exchange step_with_others(Replica replica, float loss);
    void publish_and_look(std::span<const float> weights, Exchange& record);
    void publish_look_and_move(std::span<float> weights, Exchange& record);
    void look(Exchange& record);
    std::optional<Publication> look_at(int rank, std::span<float> model);
    bool can_be_followed(const Publication& publication, int rank, std::span<const float> model);
    float strength() const;

    Cluster& cluster_;
    Sgd& sgd_;
    OwnRule rule_;
    PeerModels peers_;
    std::vector<AlignedFloats> models_;  // of those I look at
    AlignedFloats target_;
    float pull_ = 0;  // how much of p(t) the target pulls with
    std::int64_t planned_steps_, step_ = 0;
    float loss_ = 0;  // f
};

/// To my left and to my right; one on a ring of two, none alone.
std::vector<int> ring_neighbours(int rank, int ranks);

/// The same ranks at every look.
Whom always(std::vector<int> ranks);

/// The mean of all that I saw; moves with all of p(t).
float mean_target(std::span<const Sight> seen, float my_loss, std::span<float> target);
/// The model with the lowest loss, unless mine is as low.
float best_target(std::span<const Sight> seen, float my_loss, std::span<float> target);
/// target = Σ shares·models / Σ shares
void weighted_mean(std::span<const Sight> seen, std::span<const double> shares,
                   std::span<float> target);

}  // namespace wasp
