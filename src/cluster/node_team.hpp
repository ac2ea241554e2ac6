/// Collective operations among ranks that share memory: the processes of a node, or threads.
/// Sums are taken in the order of the members: the same bits on all of them, and in every run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.hpp"
#include "cluster/cluster.hpp"

namespace wasp {

class NodeTeam {
public:
    /// Of memory that all members share, cache-line aligned and zero before the first of them
    /// comes.
    static std::size_t bytes(int members);

    /// ranks: of the members, by their number on the node; I am number `me`.
    NodeTeam(Cluster& cluster, std::byte* memory, std::vector<int> ranks, int me);

    /// Run by member 0 on a chunk that the members have made, before they take it: where nodes
    /// meet.
    template <class T>
    using AmongNodes = std::function<void(std::span<T>)>;

    void barrier(const std::function<void()>& among_nodes = {});
    /// Every member's value.
    std::vector<std::uint64_t> exchange(std::uint64_t mine);
    void sum(std::span<float> values, const AmongNodes<float>& among_nodes = {});
    void sum(std::span<double> values, const AmongNodes<double>& among_nodes = {});
    /// root: a member's number; -1 where it is on another node.
    void broadcast(std::span<std::byte> bytes, int root,
                   const AmongNodes<std::byte>& among_nodes = {});

    /// On root, each member's bytes; elsewhere empty.
    std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes, int root);

    /// This member failed. True for the first that calls.
    bool announce_failure() { return !lines_[0].failed.exchange(true); }
    /// Whether a member did.
    bool any_failed() const { return lines_[0].failed.load(std::memory_order_relaxed); }

private:
    struct alignas(cache_line) Line {
        std::atomic<std::uint64_t> arrived;
        std::uint64_t value;
        std::atomic<bool> failed;  // of the first line: for all
    };

    template <class T>
    void sum_chunks(std::span<T> values, const AmongNodes<T>& among_nodes);
    /// Of a chunk, in one of several places.   member: their number for the result.
    std::byte* staging(std::size_t member, std::size_t place) const;
    std::string missing() const;
    bool leads() const { return me_ == 0; }

    Cluster& cluster_;
    std::vector<int> ranks_;
    std::size_t me_;
    std::span<Line> lines_;
    std::byte* staging_;  // in each place a chunk for each member, and one for the result
    std::uint64_t epoch_ = 0;
};

}  // namespace wasp
