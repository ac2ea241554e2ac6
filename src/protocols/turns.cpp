#include "protocols/turns.hpp"

#include <fmt/format.h>

#include <utility>

namespace wasp {

TurnTakingCluster::TurnTakingCluster(Cluster& cluster, std::vector<int> script)
    : ForwardingCluster(cluster),
      records_(false),
      script_(std::move(script)),
      turns_(cluster, "turn") {}

TurnTakingCluster::TurnTakingCluster(Cluster& cluster)
    : ForwardingCluster(cluster), records_(true), turns_(cluster, "turn") {}

void TurnTakingCluster::begin() {
    take_turn();
}

void TurnTakingCluster::count_turns() {
    auto turns = static_cast<double>(my_turns_.size());
    inner().sum(std::span(&turns, 1));
    turns_of_all_ = static_cast<std::int64_t>(turns);
}

/// Numbers of turns that were forgotten are missing among those that were recorded, but not in a
/// script.
void TurnTakingCluster::visit(State& state) {
    state.list("turns", my_turns_);
    state.value("turns_of_all", turns_of_all_);
    if (state.restores() && !records_ && rank() == 0) turns_.go_on_from(turns_of_all_);
}

bool TurnTakingCluster::script_is_done() {
    return turns_.served() >= static_cast<std::int64_t>(script_.size());
}

/// A wait that goes on has changed nothing in the turn that it is given up with: that one is
/// forgotten, so that waiting takes one turn however often it looked.
void TurnTakingCluster::yield(double waited_seconds) {
    if (!my_turn_) return inner().yield(waited_seconds);
    if (records_ && waited_seconds > 0) my_turns_.pop_back();
    hand_on();
    if (records_) inner().yield(waited_seconds);
    take_turn();
}

void TurnTakingCluster::take_turn() {
    if (!records_) return take_scripted_turn();
    my_turns_.push_back(turns_.enter());
    my_turn_ = true;
}

void TurnTakingCluster::take_scripted_turn() {
    wait_until(
        inner(),
        [&] {
            const auto turn = static_cast<std::size_t>(turns_.served());
            my_turn_ = turn < script_.size() && script_[turn] == rank();
            return my_turn_ || turn >= script_.size();
        },
        [&] {
            const auto turn = static_cast<std::size_t>(turns_.served());
            return fmt::format("rank {} to take turn {} of the schedule",
                               turn < script_.size() ? script_[turn] : -1, turn);
        },
        [this] { return turns_.served(); });
}

void TurnTakingCluster::hand_on() {
    if (my_turn_) turns_.leave();
    my_turn_ = false;
}

}  // namespace wasp
