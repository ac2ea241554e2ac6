/// The engine of the protocols whose workers share weights: push my step, pass the gate, pull.
///     s = tickets − v;   θ += w(s)·u;   wait while I lead by more than S;   v = version; pull θ
///     and every T steps all meet and start anew from the same θ
#pragma once

#include <cstdint>

#include "cluster/clocks.hpp"
#include "cluster/parameter_store.hpp"
#include "laps.hpp"
#include "meeting.hpp"
#include "protocols/protocol.hpp"
#include "settings.hpp"
#include "weight_functions.hpp"

namespace wasp {

/// When a forced synchronisation is due: every `period` steps of each worker; or once the version
/// passes the next multiple of period · workers, so that a slow worker is waited for at most one of
/// its steps.
enum class Trigger { iterations, versions };

/// What sets these protocols apart.
struct SharedRule {
    WeightFunction weight;           ///< w(s)
    std::int64_t drop_from = never;  ///< R: a gradient at least this stale is thrown away
    std::int64_t lead = never;       ///< S: the steps that a worker may be ahead of the slowest
    std::int64_t period = never;     ///< T: of the forced synchronisation
    Trigger trigger = Trigger::iterations;
};

class SharedWeights final : public Protocol {
public:
    SharedWeights(const ProtocolSetup& setup, const Team& team, SharedRule rule);

    Exchange exchange(Replica replica, float loss) override;
    void finish(Replica replica) override;
    std::int64_t version() const override { return version_; }

private:
    void push(Replica replica, Exchange& record);
    bool synchronisation_is_due() const;
    void synchronise(std::span<float> weights, Exchange& record, Laps& laps);
    void warn_when_stalled(float weight);

    Cluster& cluster_;
    Sgd& sgd_;
    Team team_;
    SharedRule rule_;
    ParameterStore store_;
    Clocks clocks_;  // tick only where a gate reads them
    Meeting meeting_;
    Progress progress_;
    std::int64_t bytes_away_;  // of one copy of the weights, on other ranks
    std::int64_t steps_ = 0;
    std::int64_t version_ = 0;  // v: of the weights that I last pulled
    std::int64_t versions_between_, next_synchronisation_;
    std::int64_t pushes_ = 0;
    double weight_sum_ = 0;
    bool warned_ = false;
};

}  // namespace wasp
