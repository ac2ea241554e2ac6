/// The weights all workers share: shards in RMA windows, and two version counters.
/// Shards are dealt to the owners in turn; where there are fewer of them than owners, to owners as
/// far apart as they can be, and so on different nodes. Where they lie depends on numbers only, not
/// on nodes: checkpoints can be read on others.
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
    /// Shards lie on the ranks [0, owners); owners from 1 to all.   shard_bytes: of each shard,
    /// made up to whole blocks of a window; 0: one shard an owner, or of one block where there are
    /// fewer blocks than owners.
    ParameterStore(Cluster& cluster, std::span<const float> weights, int owners,
                   std::size_t shard_bytes = 0);

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

    int holder_of(std::size_t shard) const {
        return static_cast<int>(shard % holders_ * static_cast<std::size_t>(owners_) / holders_);
    }

    Cluster& cluster_;
    std::size_t length_;
    int owners_;
    std::size_t shard_;    // floats; the last may be shorter
    std::size_t holders_;  // owners that have any
    std::size_t here_ = 0;
    std::unique_ptr<Window> window_;
    // No rank answers everybody about everything: tickets lie on the first owner, the version in
    // the middle of them, and clocks on the last (see there).
    static constexpr int issued_on = 0;
    int done_on_;
    std::unique_ptr<Counters> versions_;
};

}  // namespace wasp
