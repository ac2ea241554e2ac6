/// Windows and counters among ranks that share memory: loads and stores, no messages.
#pragma once

#include <memory>
#include <vector>

#include "block_memory.hpp"

namespace wasp {

class NodeWindow final : public Window {
public:
    /// parts: by rank.   memory: owns what they point to.
    NodeWindow(Cluster& cluster, std::vector<BlockMemory> parts, std::shared_ptr<void> memory);
    void get(int rank, std::size_t offset, std::span<float> out) override;
    void put(int rank, std::size_t offset, std::span<const float> in) override;
    void add(int rank, std::size_t offset, float scale, std::span<const float> in) override;

    std::span<float> floats(int rank) { return part(rank).floats(); }

private:
    BlockMemory& part(int rank) { return parts_.at(static_cast<std::size_t>(rank)); }

    Cluster& cluster_;
    LockHolder me_;
    std::vector<BlockMemory> parts_;
    std::shared_ptr<void> memory_;
};

/// Alone on its cache line: counters are what ranks meet at.
struct alignas(cache_line) Counter {
    std::atomic<std::int64_t> value{0};
};

class NodeCounters final : public Counters {
public:
    /// parts: by rank.   memory: owns what they point to.
    NodeCounters(std::vector<std::span<Counter>> parts, std::shared_ptr<void> memory);
    std::int64_t read(int rank, std::size_t index) override;
    void read(int rank, std::size_t first, std::span<std::int64_t> out) override;
    std::int64_t fetch_add(int rank, std::size_t index, std::int64_t delta) override;

private:
    Counter& at(int rank, std::size_t index);

    std::vector<std::span<Counter>> parts_;
    std::shared_ptr<void> memory_;
};

}  // namespace wasp
