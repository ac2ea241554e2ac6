/// The engine of the protocols whose workers share weights: push my step, pass the gate, pull.
///     s = tickets − v;   θ += w(s)·u;   wait while I lead by more than S;   v = version; pull θ
///     and every T steps all meet and start anew from the same θ
#pragma once

#include <cstdint>
#include <optional>

#include "centre.hpp"
#include "cluster/laps.hpp"
#include "compressor.hpp"
#include "gradient_buckets.hpp"
#include "meeting.hpp"
#include "protocols/protocol.hpp"
#include "server.hpp"
#include "settings.hpp"
#include "weight_functions.hpp"

namespace wasp {

/// When a forced synchronisation is due: every `period` steps of each worker; or once the version
/// passes the next multiple of period · workers, so that a slow worker is waited for at most one of
/// its steps.
enum class Trigger { iterations, versions };

/// What sets these protocols apart.
struct SharedRule {
    WeightFunction weight = [](std::int64_t /*s*/) { return 1.0; };  ///< w(s)
    bool unit_mass = false;                                          ///< see UnitMass
    std::int64_t drop_from = never;  ///< R: a gradient at least this stale is thrown away
    std::int64_t lead = never;       ///< S: the steps that a worker may be ahead of the slowest
    std::int64_t period = never;     ///< T: of the forced synchronisation
    Trigger trigger = Trigger::iterations;
    std::int64_t push_every = 1;  ///< steps; their sum is pushed, and taken alone meanwhile
    std::int64_t pull_every = 1;  ///< steps
    ServerRule server = {};       ///< where an update takes more than an addition
};

class SharedWeights final : public Protocol {
public:
    SharedWeights(const ProtocolSetup& setup, const Team& team, SharedRule rule);

    void gradient_ready(Replica replica, std::size_t offset, std::size_t count) override;
    Exchange exchange(Replica replica, float loss) override;
    std::int64_t place(std::int64_t step) const override;
    bool retire() override;
    void finish(Replica replica) override;
    std::int64_t version() const override { return version_; }
    void visit(State& state) override;
    std::optional<std::int64_t> gradients_so_far() const override {
        return version_ * rule_.server.group * rule_.push_every;
    }

private:
    void bring_step(Replica replica, Exchange& record);
    void step_alone(Replica replica);
    bool must_be_dropped(std::int64_t staleness, Exchange& record) const;
    void push(std::span<const float> step, Exchange& record);
    std::span<const float> compressed(std::size_t offset, std::span<const float> step);
    std::int64_t pushed_bytes();
    void take_ticket(Exchange& record);
    float weight_of(std::int64_t staleness);
    void finish_push(Exchange& record);
    void push_through_server(Replica replica, Exchange& record);
    void pass_gate(Exchange& record);
    bool synchronisation_is_due(std::int64_t version) const;
    void synchronise(std::span<float> weights, Exchange& record);
    void warn_when_stalled(float weight);

    Cluster& cluster_;
    Sgd& sgd_;
    Team team_;
    SharedRule rule_;
    Centre centre_;  // its clocks tick only where a gate reads them
    Meeting meeting_;
    std::optional<Server> server_;
    Compression compression_;
    std::optional<Compressor> compressor_;    // where updates are made smaller
    std::optional<GradientBuckets> buckets_;  // where gradients leave layer by layer
    std::optional<Exchange> under_way_;       // the push of which some slices have left
    AlignedFloats unpushed_;                  // sum of my steps, where not each is pushed
    AlignedFloats before_;                    // my replica before a forced synchronisation
    std::int64_t planned_steps_, steps_ = 0;
    std::int64_t version_ = 0;  // v: of the weights that I last pulled
    std::int64_t versions_between_, next_synchronisation_;
    std::int64_t pushes_ = 0;
    double weight_sum_ = 0;
    std::optional<UnitMass> unit_mass_;
    bool warned_ = false;
};

}  // namespace wasp
