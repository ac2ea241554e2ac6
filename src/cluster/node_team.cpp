#include "node_team.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{512} << 10U;  // stays in a core's own cache

void add_to(std::span<float> sum, std::span<const float> x) {
    axpy(1.0F, x, sum);
}

void add_to(std::span<double> sum, std::span<const double> x) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += x[i];
}

}  // namespace

std::size_t NodeTeam::bytes(int members) {
    const auto n = static_cast<std::size_t>(members);
    return n * sizeof(Line) + (n + 1) * chunk_bytes;
}

NodeTeam::NodeTeam(Cluster& cluster, std::byte* memory, std::vector<int> ranks, int me)
    : cluster_(cluster),
      ranks_(std::move(ranks)),
      me_(static_cast<std::size_t>(me)),
      lines_(reinterpret_cast<Line*>(memory), ranks_.size()),
      staging_(memory + ranks_.size() * sizeof(Line)) {}

std::byte* NodeTeam::staging(std::size_t member) const {
    return staging_ + member * chunk_bytes;
}

std::string NodeTeam::missing() const {
    std::vector<int> who;
    for (std::size_t i = 0; i < ranks_.size(); ++i)
        if (lines_[i].arrived < epoch_) who.push_back(ranks_[i]);
    return fmt::format("rank{} {} to come to a collective operation", who.size() == 1 ? "" : "s",
                       fmt::join(who, ", "));
}

void NodeTeam::barrier(const std::function<void()>& among_nodes) {
    const auto meet = [this] {
        lines_[me_].arrived.store(++epoch_, std::memory_order_release);
        wait_until(
            cluster_,
            [this] {
                return std::ranges::all_of(lines_, [this](const Line& line) {
                    return line.arrived.load(std::memory_order_acquire) >= epoch_;
                });
            },
            [this] { return missing(); });
    };
    meet();
    if (!among_nodes) return;
    if (leads()) among_nodes();
    meet();
}

std::vector<std::uint64_t> NodeTeam::exchange(std::uint64_t mine) {
    lines_[me_].value = mine;
    barrier();
    std::vector<std::uint64_t> values;
    for (const Line& line : lines_) values.push_back(line.value);
    barrier();  // nobody changes a value that others have yet to read
    return values;
}

// Chunk by chunk: each member lays down its values, sums up its slice of everybody's, and takes the
// whole. One barrier after each of the first two; whoever next writes to the result first comes to
// another barrier, and so do those who still read it.
template <class T>
void NodeTeam::sum_chunks(std::span<T> values, const AmongNodes<T>& among_nodes) {
    constexpr std::size_t chunk = chunk_bytes / sizeof(T);
    constexpr std::size_t line = cache_line / sizeof(T);
    const std::size_t members = ranks_.size();
    if (members == 1 && !among_nodes) return;
    const auto staged = [this](std::size_t member) {
        return reinterpret_cast<T*>(staging(member));
    };
    for (std::size_t at = 0; at < values.size(); at += chunk) {
        const auto mine = values.subspan(at, std::min(chunk, values.size() - at));
        std::memcpy(staged(me_), mine.data(), mine.size_bytes());
        barrier();
        const std::span result(staged(members), mine.size());
        const std::size_t share = ((mine.size() + members - 1) / members + line - 1) / line * line;
        const std::size_t begin = std::min(me_ * share, mine.size());
        const auto slice = result.subspan(begin, std::min(share, mine.size() - begin));
        std::memcpy(slice.data(), staged(0) + begin, slice.size_bytes());
        for (std::size_t member = 1; member < members; ++member)
            add_to(slice, std::span<const T>(staged(member) + begin, slice.size()));
        barrier(among_nodes ? [&] { among_nodes(result); } : std::function<void()>());
        std::memcpy(mine.data(), result.data(), mine.size_bytes());
    }
}

void NodeTeam::sum(std::span<float> values, const AmongNodes<float>& among_nodes) {
    sum_chunks(values, among_nodes);
}

void NodeTeam::sum(std::span<double> values, const AmongNodes<double>& among_nodes) {
    sum_chunks(values, among_nodes);
}

void NodeTeam::broadcast(std::span<std::byte> bytes, int root,
                         const AmongNodes<std::byte>& among_nodes) {
    const bool mine = root == static_cast<int>(me_);
    for (std::size_t at = 0; at < bytes.size(); at += chunk_bytes) {
        const auto part = bytes.subspan(at, std::min(chunk_bytes, bytes.size() - at));
        const std::span shared(staging(ranks_.size()), part.size());
        barrier();  // all have taken what lay there before
        if (mine) std::memcpy(shared.data(), part.data(), part.size());
        barrier(among_nodes ? [&] { among_nodes(shared); } : std::function<void()>());
        if (!mine) std::memcpy(part.data(), shared.data(), part.size());
    }
}

std::vector<std::vector<std::byte>> NodeTeam::gather(std::span<const std::byte> bytes, int root) {
    const auto sizes = exchange(bytes.size());
    const bool mine = root == static_cast<int>(me_);
    std::vector<std::vector<std::byte>> all(mine ? sizes.size() : 0);
    for (std::size_t at = 0; at < std::ranges::max(sizes); at += chunk_bytes) {
        if (at < bytes.size()) {
            const auto part = bytes.subspan(at, std::min(chunk_bytes, bytes.size() - at));
            std::memcpy(staging(me_), part.data(), part.size());
        }
        barrier();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (at >= sizes[i]) continue;
            const std::span part(staging(i), std::min(chunk_bytes, sizes[i] - at));
            all[i].insert(all[i].end(), part.begin(), part.end());
        }
        barrier();  // root has read it
    }
    return all;
}

}  // namespace wasp
