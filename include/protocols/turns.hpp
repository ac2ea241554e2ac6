/// Ranks that take turns: of those between begin() and end() only the one whose turn it is runs,
/// and where it has to wait for others it hands its turn on. Whose turn it was can be noted down
/// and followed again: an asynchronous run is then the same to the bit. Tests write such scripts
/// themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/state.hpp"
#include "cluster/forwarding.hpp"
#include "cluster/ticket_lock.hpp"

namespace wasp {

class TurnTakingCluster final : public ForwardingCluster {
public:
    /// Collective. Follow a script: whose turn it is, by rank; after its end nobody waits for a
    /// turn.   Error, later: a rank that does not come for its turn has stalled.
    TurnTakingCluster(Cluster& cluster, std::vector<int> script);

    /// Collective. Whoever comes first has the next turn; my_turns() says which I had.
    explicit TurnTakingCluster(Cluster& cluster);

    void begin();
    void end() { hand_on(); }

    /// Collective, while nobody has a turn, before visit() writes.
    void count_turns();
    /// Which turns there were; a script goes on behind them.
    void visit(State& state);
    bool script_is_done();

    /// Of those that changed something: their numbers, ascending.
    std::span<const std::int64_t> my_turns() const { return my_turns_; }

    void yield(double waited_seconds) override;

    // Nobody can be waited for in turns where all must come: the turn is given up for good.
    void barrier() override { free().barrier(); }
    void sum(std::span<float> values) override { free().sum(values); }
    void sum(std::span<double> values) override { free().sum(values); }
    void broadcast(std::span<std::byte> bytes, int root) override { free().broadcast(bytes, root); }
    std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes,
                                               int root) override {
        return free().gather(bytes, root);
    }
    std::unique_ptr<Window> make_window(std::size_t length) override {
        return free().make_window(length);
    }
    std::unique_ptr<Counters> make_counters(std::size_t count) override {
        return free().make_counters(count);
    }
    std::unique_ptr<NodeMemory> make_node_memory(std::size_t bytes) override {
        return free().make_node_memory(bytes);
    }

private:
    void take_turn();
    void take_scripted_turn();
    void hand_on();
    Cluster& free() {
        hand_on();
        return inner();
    }

    bool records_;
    std::vector<int> script_;
    TicketLock turns_;  // of a script nobody draws tickets, but those served are counted
    std::vector<std::int64_t> my_turns_;
    std::int64_t turns_of_all_ = 0;  // when they were counted last
    bool my_turn_ = false;
};

}  // namespace wasp
