#include "block_memory.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "tensor/parallel.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

constexpr std::uint64_t nobody = 0;
constexpr std::size_t grain = 8;  // blocks a thread takes at once: 128 KiB

LockHolder holder_in(std::uint64_t word) {
    return {static_cast<int>(word >> 32U) - 1,
            static_cast<std::int32_t>(static_cast<std::uint32_t>(word))};
}

}  // namespace

std::uint64_t LockHolder::word() const {
    return (static_cast<std::uint64_t>(rank + 1) << 32U) | static_cast<std::uint32_t>(pid);
}

std::string BlockMemory::holder_of(std::size_t block) const {
    const LockHolder holder = holder_in(locks_[block].holder.load());
    return fmt::format("block {} of a window, held by rank {} (pid {})", block, holder.rank,
                       holder.pid);
}

// Ranks start at different blocks and leave out those that are held, so that they neither queue up
// behind one another nor behind a rank whose holder lost its core.
template <class Work>
void BlockMemory::for_each_block(Cluster& cluster, const LockHolder& me, std::size_t offset,
                                 std::size_t count, Work work) {
    ENSURE(offset + count <= length(), "a window of {} floats was asked for [{}, {})", length(),
           offset, offset + count);
    if (count == 0) return;
    const std::size_t first = offset / Window::block;
    const std::size_t blocks = (offset + count - 1) / Window::block - first + 1;
    const std::size_t start = blocks * static_cast<std::size_t>(cluster.rank()) /
                              static_cast<std::size_t>(cluster.size());
    const auto try_block = [&](std::size_t block) {
        std::uint64_t expected = nobody;
        auto& holder = locks_[block].holder;
        if (!holder.compare_exchange_strong(expected, me.word(), std::memory_order_acquire,
                                            std::memory_order_relaxed))
            return false;
        const std::size_t begin = std::max(offset, block * Window::block);
        const std::size_t end = std::min(offset + count, (block + 1) * Window::block);
        work(floats_.subspan(begin, end - begin), begin - offset);
        holder.store(nobody, std::memory_order_release);
        return true;
    };
    std::vector<std::size_t> left(blocks);
    std::atomic<std::size_t> lefts{0};
    parallel_ranges(blocks, grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t block = first + (start + i) % blocks;
            if (!try_block(block)) left[lefts.fetch_add(1)] = block;
        }
    });
    left.resize(lefts);
    wait_until(
        cluster,
        [&] {
            std::erase_if(left, try_block);
            return left.empty();
        },
        [&] { return holder_of(left[0]); });
}

void BlockMemory::get(Cluster& cluster, const LockHolder& me, std::size_t offset,
                      std::span<float> out) {
    for_each_block(cluster, me, offset, out.size(), [&](std::span<float> block, std::size_t at) {
        copy(block, out.subspan(at, block.size()));
    });
}

void BlockMemory::put(Cluster& cluster, const LockHolder& me, std::size_t offset,
                      std::span<const float> in) {
    for_each_block(cluster, me, offset, in.size(), [&](std::span<float> block, std::size_t at) {
        copy(in.subspan(at, block.size()), block);
    });
}

void BlockMemory::add(Cluster& cluster, const LockHolder& me, std::size_t offset, float scale,
                      std::span<const float> in) {
    for_each_block(cluster, me, offset, in.size(), [&](std::span<float> block, std::size_t at) {
        axpy(scale, in.subspan(at, block.size()), block);
    });
}

}  // namespace wasp
