/// The engine of local SGD: each worker steps alone; now and then all take the mean of their
/// models, moved on by slow momentum.
///     x += u(g);   every H steps:  m = mean of x;   Δ = β·Δ + α·(m − a);   a += Δ;   x = a
/// a: what all had after the last mean. Replicas are then identical, bit for bit.
#pragma once

#include <cstdint>

#include "base/aligned.hpp"
#include "protocols/protocol.hpp"
#include "settings.hpp"

namespace wasp {

/// What becomes of a worker's velocity u when it takes the mean model.
enum class LocalVelocity { keep, reset, mean };

/// What sets these protocols apart.
struct AveragingRule {
    std::int64_t period = 1;           ///< H, steps between means
    std::int64_t every_step_till = 0;  ///< until this step, H = 1
    float slow_momentum = 0;           ///< β
    float slow_rate = 1;               ///< α
    bool slow_follows_rate = false;    ///< Δ is scaled as η is by a schedule
    bool look_ahead = false;           ///< all go on from a + β·Δ (Nesterov)
    LocalVelocity velocity = LocalVelocity::keep;
};

class Averaging final : public Protocol {
public:
    Averaging(const ProtocolSetup& setup, const AveragingRule& rule);

    Exchange exchange(Replica replica, float loss) override;
    void finish(Replica replica) override;
    void visit(State& state) override;
    std::int64_t version() const override { return version_; }  ///< means taken

private:
    bool due() const;
    bool has_slow_momentum() const;
    bool average(Replica replica, bool active, Exchange& record);
    void move_slowly(std::span<float> weights, float rate);
    void take_mean(std::span<float> values, bool active, float share, Exchange& record);

    Cluster& cluster_;
    Sgd& sgd_;
    AveragingRule rule_;
    AlignedFloats anchor_, slow_step_;  // a and Δ, with slow momentum only
    AlignedFloats before_;              // my model before a mean
    float last_rate_ = 0;               // η at the last mean
    std::int64_t steps_ = 0, steps_since_ = 0, version_ = 0;
};

/// The key "H".
inline Key mean_period_key(std::string_view fallback) {
    return steps_key("H", fallback, "steps between two means");
}

/// The key "velocity", and its value.
Key local_velocity_key();
LocalVelocity local_velocity(const Settings& settings);

}  // namespace wasp
