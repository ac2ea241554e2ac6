#include "node_team.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/error.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

// What is under way of a sum, four chunks on a core, stays in the core's own cache.
constexpr std::size_t chunk_bytes = std::size_t{256} << 10U;
constexpr std::size_t places = 2;  // for chunks, used in turn

// As those of tensor/vector_ops.hpp for floats; sums of doubles are short.
void copy(std::span<const double> from, std::span<double> to) {
    std::ranges::copy(from, to.begin());
}

void add(std::span<const double> x, std::span<const double> y, std::span<double> sum) {
    std::ranges::transform(x, y, sum.begin(), std::plus());
}

}  // namespace

std::size_t NodeTeam::bytes(int members) {
    const auto n = static_cast<std::size_t>(members);
    return n * sizeof(Line) + places * (n + 1) * chunk_bytes;
}

NodeTeam::NodeTeam(Cluster& cluster, std::byte* memory, std::vector<int> ranks, int me)
    : cluster_(cluster),
      ranks_(std::move(ranks)),
      me_(static_cast<std::size_t>(me)),
      lines_(reinterpret_cast<Line*>(memory), ranks_.size()),
      staging_(memory + ranks_.size() * sizeof(Line)) {}

std::byte* NodeTeam::staging(std::size_t member, std::size_t place) const {
    return staging_ + (place * (ranks_.size() + 1) + member) * chunk_bytes;
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

// Chunk by chunk: each member lays down what others add up, adds up its slice of everybody's, and
// takes the whole. It lays down the next chunk before it meets the others, who have then added up
// this one: one barrier a chunk. Two places suffice: whoever writes to one has met all others since
// they read what was there before.
template <class T>
void NodeTeam::sum_chunks(std::span<T> values, const AmongNodes<T>& among_nodes) {
    constexpr std::size_t chunk = chunk_bytes / sizeof(T);
    constexpr std::size_t line = cache_line / sizeof(T);
    const std::size_t members = ranks_.size();
    if (members == 1 && !among_nodes) return;
    const auto chunk_at = [&](std::size_t at) {
        return values.subspan(at, std::min(chunk, values.size() - at));
    };
    const auto staged = [this](std::size_t member, std::size_t at, std::size_t size) {
        return std::span(reinterpret_cast<T*>(staging(member, at / chunk % places)), size);
    };
    struct Slice {
        std::size_t begin, size;
    };
    const auto my_slice = [&](std::size_t size) {
        const std::size_t share = ((size + members - 1) / members + line - 1) / line * line;
        const std::size_t begin = std::min(me_ * share, size);
        return Slice{begin, std::min(share, size - begin)};
    };
    const auto lay_down = [&](std::size_t at) {
        const std::span<const T> mine = chunk_at(at);
        const auto there = staged(me_, at, mine.size());
        const auto [begin, size] = my_slice(mine.size());
        copy(mine.first(begin), there.first(begin));
        copy(mine.subspan(begin + size), there.subspan(begin + size));
    };
    const auto add_up = [&](std::size_t at) {
        const auto mine = chunk_at(at);
        const auto [begin, size] = my_slice(mine.size());
        const auto sum = staged(members, at, mine.size()).subspan(begin, size);
        const auto of = [&, begin = begin, size = size](std::size_t member) {
            return std::span<const T>(member == me_ ? mine : staged(member, at, mine.size()))
                .subspan(begin, size);
        };
        if (members == 1) return copy(of(0), sum);
        add(of(0), of(1), sum);
        for (std::size_t member = 2; member < members; ++member) add(sum, of(member), sum);
    };
    if (!values.empty()) lay_down(0);
    barrier();
    for (std::size_t at = 0; at < values.size(); at += chunk) {
        add_up(at);
        if (at + chunk < values.size()) lay_down(at + chunk);
        const auto mine = chunk_at(at);
        const auto sum = staged(members, at, mine.size());
        barrier(among_nodes ? [&] { among_nodes(sum); } : std::function<void()>());
        copy(sum, mine);
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
        const std::span shared(staging(ranks_.size(), 0), part.size());
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
            std::memcpy(staging(me_, 0), part.data(), part.size());
        }
        barrier();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (at >= sizes[i]) continue;
            const std::span part(staging(i, 0), std::min(chunk_bytes, sizes[i] - at));
            all[i].insert(all[i].end(), part.begin(), part.end());
        }
        barrier();  // root has read it
    }
    return all;
}

}  // namespace wasp
