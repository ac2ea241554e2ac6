/// The weights all workers share: shards in RMA windows, and two version counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "cluster/cluster.hpp"

namespace wasp {

class ParameterStore {
public:
    /// Collective. weights: (n), the same on every rank; they become the content at version 0.
    /// Shards lie on the ranks [0, owners); owners from 1 to all.
    ParameterStore(Cluster& cluster, std::span<const float> weights, int owners);

    /// Take a ticket: how many updates were announced before this one (ISSUED, then ISSUED + 1).
    std::int64_t issue();

    /// content += scale · update, everywhere; then DONE + 1.   update: (n).
    void push(float scale, std::span<const float> update);

    /// The same piece by piece: push_slice() for each, content[offset …) += scale · update; then
    /// finish_push(). Others may see some of the pieces before.
    void push_slice(float scale, std::size_t offset, std::span<const float> update);
    void finish_push();

    /// How many updates have landed (DONE). Read it before pull(): the version can then only be
    /// under-estimated.
    std::int64_t version();

    /// How many tickets were taken (ISSUED). Equals version() when no push is under way.
    std::int64_t issued();

    /// Copy the content; blocks may be of different versions while others push.   out: (n).
    void pull(std::span<float> out);

    std::size_t size() const { return length_; }

    /// How many of the weights lie on this rank.
    std::size_t size_here() const { return here_; }

private:
    enum : std::size_t { issued_counter, done_counter, counters };

    template <class Move>
    void for_each_shard(std::size_t offset, std::size_t length, Move move);

    Cluster& cluster_;
    std::size_t length_;
    int owners_;
    std::size_t shard_;  // floats; rank r < owners_ holds [r·shard_, min((r+1)·shard_, length_))
    std::size_t here_;
    std::unique_ptr<Window> window_;
    std::unique_ptr<Counters> versions_;  // on rank 0
};

}  // namespace wasp
