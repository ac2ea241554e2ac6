/// The server's side of an update, for rules that need to see the weights as they are now, several
/// gradients at once, or the server's momentum. There is no process that does it: whoever brings a
/// gradient acts as the server meanwhile, one worker at a time.
///     d = my step;   sum += w·d;   at the last of a group:  d = sum/count;   u = μ·u + d;   θ += u
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/aligned.hpp"
#include "centre.hpp"
#include "cluster/laps.hpp"
#include "cluster/ticket_lock.hpp"
#include "protocols/protocol.hpp"

namespace wasp {

/// Changes gradients by how far the weights have moved since they were pulled. `memory`, (n), is
/// kept from one gradient to the next; zero at the start.
struct Correction {
    std::function<void(std::span<float> gradients, std::span<const float> now,
                       std::span<const float> pulled, std::span<float> memory,
                       std::int64_t version)>
        before;
    /// Sees each step that is added to the weights, over the learning rate. May be empty.
    std::function<void(std::span<const float> step, float rate, std::span<float> memory)> after;
    VisitState visit = {};  ///< what it keeps besides memory
};

/// What the server does.
struct ServerRule {
    std::optional<Correction> correction = {};
    std::int64_t group = 1;    ///< gradients per update
    bool synchronous = false;  ///< who is late for its group is dropped, all others wait for it
    bool momentum = false;     ///< here, not at the workers
    bool needed() const { return correction || group > 1 || synchronous || momentum; }
};

class Server {
public:
    /// Collective. group: at most as many as there are workers.
    Server(const ProtocolSetup& setup, const Team& team, ServerRule rule, Centre& centre);

    // One worker at a time is between enter() and leave(); all else is to be called there.
    void enter() { line_.enter(centre_.progress()); }  ///< Error: stalled
    void leave() { line_.leave(); }

    /// What this worker brings: the update of its SGD, or with momentum at the server that of SGD
    /// without.   gradients: overwritten.
    std::span<const float> my_step(Replica replica);
    /// Add weight·step to the group; the last one of it moves the weights.
    void receive(std::span<const float> step, float weight);

    /// Outside: returns when the version is above `version`, all of its group having come.
    void wait_for_group(std::int64_t version);
    /// Outside: I bring no more. The groups of a synchronous rule get smaller; the last worker to
    /// come here applies a group that is still incomplete.
    void retire();

    /// Moved between this rank and others since the last call.
    std::int64_t take_bytes();

private:
    enum : std::size_t { arrived, retired, counters };
    enum : std::size_t { sum_vector, velocity_vector, memory_vector, vectors };
    static constexpr int keeper = 0;

    std::int64_t count(std::size_t counter) { return counters_->read(keeper, counter); }
    std::int64_t group_size();
    void complete_group();
    void apply();
    void read(std::size_t vector, std::span<float> values);
    void write(std::size_t vector, std::span<const float> values);

    Cluster& cluster_;
    Sgd& sgd_;
    ServerRule rule_;
    int workers_;
    Centre& centre_;
    TicketLock line_;
    std::unique_ptr<Window> state_;  // vectors × (n), on the keeper
    std::unique_ptr<Counters> counters_;
    AlignedFloats step_, scratch_, memory_;
    std::int64_t bytes_ = 0;
};

}  // namespace wasp
