/// The engine of the protocols whose workers own their weights: step alone; now and then publish
/// my model, look at others' and move towards a target made of them.
///     u = μ·u − η·g;   x += u;   every τ steps: publish, look, x += p(t)·(target − x)
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "cluster/clocks.hpp"
#include "cluster/peer_board.hpp"
#include "protocols/protocol.hpp"
#include "settings.hpp"

namespace wasp {

/// A neighbour's model, as last published.
struct Sight {
    float loss = 0;
    std::span<const float> model;
};

/// Makes the target of what I saw, at least one model.   False: I am the target, and stay.
using Target =
    std::function<bool(std::span<const Sight> seen, float my_loss, std::span<float> target)>;

/// What the pull towards the target changes: weights, at once; or the velocity, in every step
/// until the next look:   u += (1−μ)·p(t)·(target − x).
enum class Apply { position, velocity };

/// What sets these protocols apart: whom to look at, how strongly to move, when.
struct OwnRule {
    std::vector<int> neighbours;  ///< ranks
    Target target;
    Ramp strength;  ///< p(t), over the run
    Apply apply = Apply::position;
    std::int64_t period = 1;       ///< τ, steps between looks
    std::int64_t offset = 0;       ///< steps by which my looks come early: ranks take turns
    bool wait = false;             ///< for both neighbours' publication of my number
    std::int64_t max_age = never;  ///< steps; an older publication is not followed
    double smoothing = 0;          ///< of the loss: f = smoothing·f + (1 − smoothing)·loss
};

class OwnWeights final : public Protocol {
public:
    OwnWeights(const ProtocolSetup& setup, OwnRule rule);

    Exchange exchange(Replica replica, float loss) override;
    void finish(Replica replica) override;
    std::int64_t version() const override { return step_; }  ///< steps of this rank

private:
    /// The buffer of one neighbour's model.
    struct Peer {
        int rank = 0;
        AlignedFloats model;
    };

    void step_alone(Replica replica, float loss);
    void publish_and_look(std::span<const float> weights, Exchange& record);
    void wait_for_neighbours();
    std::optional<Publication> look(Peer& peer);
    bool can_be_followed(const Publication& publication, const Peer& peer);
    float strength() const;
    void show_a_sign_of_life();

    Cluster& cluster_;
    Sgd& sgd_;
    OwnRule rule_;
    PeerBoard board_;
    Clocks clocks_;  // tick now and then, as a sign of life
    Progress progress_;
    std::vector<Peer> peers_;
    AlignedFloats target_;
    bool has_target_ = false;
    std::int64_t planned_steps_, step_ = 0, published_ = 0;
    float loss_ = 0;  // f
    double last_sign_ = 0;
};

}  // namespace wasp
