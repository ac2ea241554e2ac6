/// Floats that the ranks of a node change by loads and stores, block by block under locks. Ranks
/// are threads or processes: floats and locks lie in memory that all of them share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/aligned.hpp"
#include "cluster/cluster.hpp"

namespace wasp {

/// The lock of one block: free, or who holds it. Alone on its cache line.
struct alignas(cache_line) BlockLock {
    std::atomic<std::uint64_t> holder{0};
};

/// A rank as locks know it.
struct LockHolder {
    int rank = 0;
    std::int32_t pid = 0;
    std::uint64_t word() const;
};

/// The part of a window that lies on one rank.
class BlockMemory {
public:
    static std::size_t locks_for(std::size_t length) {
        return (length + Window::block - 1) / Window::block;
    }

    /// floats: cache-line aligned; locks: locks_for(floats.size()). Both outlive this object.
    BlockMemory(std::span<float> floats, std::span<BlockLock> locks)
        : floats_(floats), locks_(locks) {}

    std::size_t length() const { return floats_.size(); }
    std::span<float> floats() const { return floats_; }

    // Each calls its block operation once per block of the range, holding the block's lock.
    // Error: a rank has held a block for stall_seconds(); named with its process id.
    void get(Cluster& cluster, const LockHolder& me, std::size_t offset, std::span<float> out);
    void put(Cluster& cluster, const LockHolder& me, std::size_t offset, std::span<const float> in);
    void add(Cluster& cluster, const LockHolder& me, std::size_t offset, float scale,
             std::span<const float> in);

private:
    template <class Work>
    void for_each_block(Cluster& cluster, const LockHolder& me, std::size_t offset,
                        std::size_t count, Work work);
    std::string holder_of(std::size_t block) const;

    std::span<float> floats_;
    std::span<BlockLock> locks_;
};

}  // namespace wasp
