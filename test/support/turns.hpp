/// Ranks that take turns as a script says, so that asynchronous protocols can be tested without
/// luck: of those between begin() and end() only the one whose turn it is runs, and where it has to
/// wait for others it hands its turn on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"

namespace wasp::test {

class TurnTakingCluster final : public Cluster {
public:
    /// Collective. script: whose turn it is, by rank; after its end nobody waits for a turn.
    TurnTakingCluster(Cluster& cluster, std::vector<int> script)
        : cluster_(cluster), script_(std::move(script)), turn_(cluster.make_counters(1)) {}

    void begin() { take_turn(); }
    void end() { hand_on(); }
    bool script_is_done() { return position() >= script_.size(); }

    void yield(double waited_seconds) override {
        if (!my_turn_) return cluster_.yield(waited_seconds);
        hand_on();
        take_turn();
    }

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

    const Place& place() const override { return cluster_.place(); }
    std::string description() const override { return cluster_.description(); }
    void poll() override { cluster_.poll(); }
    double seconds() const override { return cluster_.seconds(); }
    void check_alive() override { cluster_.check_alive(); }

private:
    std::size_t position() { return static_cast<std::size_t>(turn_->read(0, 0)); }
    void take_turn() {
        wait_until(
            cluster_,
            [&] {
                const std::size_t turn = position();
                my_turn_ = turn < script_.size() && script_[turn] == cluster_.rank();
                return my_turn_ || turn >= script_.size();
            },
            [&] { return "turn " + std::to_string(position()) + " of the script"; });
    }
    void hand_on() {
        if (my_turn_) turn_->fetch_add(0, 0, 1);
        my_turn_ = false;
    }
    Cluster& free() {
        hand_on();
        return cluster_;
    }

    Cluster& cluster_;
    std::vector<int> script_;
    std::unique_ptr<Counters> turn_;  // on rank 0: how much of the script is done
    bool my_turn_ = false;
};

}  // namespace wasp::test
