/// What a rank notes down of its steps. Makes no system call and, after the first steps, allocates
/// nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "base/state.hpp"
#include "protocols/protocol.hpp"
#include "report/results_file.hpp"

namespace wasp {

/// One step as the worker saw it.
struct Step {
    double end = 0;  ///< seconds of training time
    double data = 0, compute = 0, poll = 0;
    double held_up = 0;  ///< on purpose; part of compute
    float loss = 0;
    std::int64_t samples = 0;
    Exchange exchange;
};

class Recorder {
public:
    /// every: steps between two rows; steps: how many are planned.
    Recorder(RankRow place, std::int64_t every, std::int64_t steps);

    void add(const Step& step);

    void visit(State& state);
    /// Whether it may be what visit() read back.
    bool is_sound() const;

    const RankRow& row() const { return row_; }
    std::int64_t steps() const { return steps_; }
    /// Mean of the recent mini-batches, the latest counting 1/50 (1/n while there are fewer).
    double recent_loss() const { return recent_loss_; }
    std::int64_t last_staleness() const { return last_staleness_; }

private:
    RankRow row_;
    std::int64_t every_, steps_ = 0;
    std::int64_t last_staleness_ = 0;
    double recent_loss_ = 0;
};

/// How many steps lie between two rows of /steps when nobody says so.
std::int64_t default_record_every(std::int64_t steps);

}  // namespace wasp
