#include "server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tensor/vector_ops.hpp"

namespace wasp {

Server::Server(const ProtocolSetup& setup, const Team& team, ServerRule rule, Centre& centre)
    : cluster_(setup.cluster),
      sgd_(setup.sgd),
      rule_(std::move(rule)),
      workers_(team.workers),
      centre_(centre),
      line_(cluster_, "update"),
      state_(cluster_.make_window(cluster_.rank() == keeper ? vectors * setup.weights.size() : 0)),
      counters_(cluster_.make_counters(counters)) {
    if (!team.worker) return;
    step_.resize(setup.weights.size());
    scratch_.resize(setup.weights.size());
    if (rule_.correction) memory_.resize(setup.weights.size());
}

std::span<const float> Server::my_step(Replica replica) {
    if (rule_.correction) {
        centre_.store().pull(scratch_);
        read(memory_vector, memory_);
        rule_.correction->before(replica.gradients, scratch_, replica.weights, memory_,
                                 centre_.store().version());
        write(memory_vector, memory_);
        bytes_ += centre_.bytes_away();
    }
    return rule_.momentum ? sgd_.descent(replica.gradients, replica.weights)
                          : sgd_.update(replica.gradients, replica.weights);
}

void Server::receive(std::span<const float> step, float weight) {
    if (rule_.group == 1 && !rule_.synchronous) {
        copy(step, step_);
        if (weight != 1) scale(weight, step_);
        return apply();
    }
    read(sum_vector, step_);
    axpy(weight, step, step_);
    write(sum_vector, step_);
    counters_->fetch_add(keeper, arrived, 1);
    if (count(arrived) >= group_size()) complete_group();
}

std::int64_t Server::group_size() {
    if (!rule_.synchronous) return rule_.group;
    return std::clamp<std::int64_t>(rule_.group, 1,
                                    std::max<std::int64_t>(1, workers_ - count(retired)));
}

void Server::complete_group() {
    const std::int64_t size = count(arrived);
    read(sum_vector, step_);
    scale(1.0F / static_cast<float>(size), step_);
    std::ranges::fill(scratch_, 0.0F);
    write(sum_vector, scratch_);
    counters_->fetch_add(keeper, arrived, -size);
    apply();
}

/// θ += the server's momentum of step_, or step_ itself.
void Server::apply() {
    if (rule_.momentum) {
        read(velocity_vector, scratch_);
        scale(sgd_.momentum(), scratch_);
        axpy(1.0F, step_, scratch_);
        write(velocity_vector, scratch_);
        if (sgd_.nesterov())
            axpy(sgd_.momentum(), scratch_, step_);
        else
            copy(scratch_, step_);
    }
    if (rule_.correction && rule_.correction->after) {
        rule_.correction->after(step_, sgd_.learning_rate(), memory_);
        write(memory_vector, memory_);
    }
    centre_.store().issue();
    centre_.store().push(1.0F, step_);
    bytes_ += centre_.bytes_away();
}

void Server::wait_for_group(std::int64_t version) {
    ParameterStore& store = centre_.store();
    const auto landed = [&] { return store.version() > version; };
    wait_until(
        cluster_, [&] { return landed() || count(arrived) >= group_size(); },
        [&] {
            return fmt::format("{} more gradient(s) on version {}", group_size() - count(arrived),
                               version);
        },
        centre_.progress());
    if (landed()) return;
    enter();  // someone has finished, and the group is complete without it
    if (!landed() && count(arrived) >= group_size()) complete_group();
    leave();
}

void Server::retire() {
    enter();
    const std::int64_t before = counters_->fetch_add(keeper, retired, 1);
    if (before + 1 == workers_ && count(arrived) > 0) complete_group();
    leave();
}

std::int64_t Server::take_bytes() {
    return std::exchange(bytes_, 0);
}

void Server::read(std::size_t vector, std::span<float> values) {
    state_->get(keeper, vector * values.size(), values);
    if (cluster_.rank() != keeper) bytes_ += static_cast<std::int64_t>(values.size_bytes());
}

void Server::write(std::size_t vector, std::span<const float> values) {
    state_->put(keeper, vector * values.size(), values);
    if (cluster_.rank() != keeper) bytes_ += static_cast<std::int64_t>(values.size_bytes());
}

}  // namespace wasp
