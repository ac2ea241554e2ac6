#include "cluster/parameter_store.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"

namespace wasp {

namespace {

constexpr std::size_t ceil_div(std::size_t a, std::size_t b) {
    return (a + b - 1) / b;
}

/// Of a shard, in blocks of a window, so that no two shards meet in one.
std::size_t blocks_of(std::size_t length, std::size_t owners, std::size_t bytes,
                      std::size_t block) {
    const std::size_t all = std::max<std::size_t>(1, ceil_div(length, block));
    if (bytes > 0) return std::min(all, ceil_div(bytes, Window::block * sizeof(float)));
    return ceil_div(all, owners);
}

}  // namespace

ParameterStore::ParameterStore(Cluster& cluster, std::span<const float> weights, int owners,
                               std::size_t shard_bytes)
    : cluster_(cluster), length_(weights.size()), owners_(owners), done_on_(owners / 2) {
    ENSURE(owners >= 1 && owners <= cluster.size(), "a store on {} of {} ranks", owners,
           cluster.size());
    const auto n = static_cast<std::size_t>(owners);
    const std::size_t block = Window::block / cluster.weights_per_float();
    shard_ = blocks_of(length_, n, shard_bytes, block) * block;
    const std::size_t shards = ceil_div(length_, shard_);
    holders_ = std::clamp<std::size_t>(shards, 1, n);
    std::vector<std::span<const float>> mine;
    for (std::size_t i = 0; i < shards; ++i)
        if (holder_of(i) == cluster.rank())
            mine.push_back(weights.subspan(i * shard_, std::min(shard_, length_ - i * shard_)));
    for (const auto shard : mine) here_ += shard.size();
    window_ = cluster.make_window(here_);
    versions_ = cluster.make_counters(counters);
    std::size_t place = 0;
    for (const auto shard : mine) {
        window_->put(cluster.rank(), place, shard);
        place += shard.size();
    }
    cluster.barrier();
}

// move(owner, place, begin, count): content[offset + begin, … + count) lies from `place` on in the
// owner's window. Each rank begins with another shard: so they are spread over the owners at every
// moment.
template <class Move>
void ParameterStore::for_each_shard(std::size_t offset, std::size_t length, Move move) {
    ENSURE(offset + length <= length_, "a store of {} weights was given {} from {} on", length_,
           length, offset);
    if (length == 0) return;
    const std::size_t first = offset / shard_;
    const std::size_t count = (offset + length - 1) / shard_ - first + 1;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t shard = first + (static_cast<std::size_t>(cluster_.rank()) + i) % count;
        const std::size_t begin = std::max(shard * shard_, offset);
        const std::size_t end = std::min((shard + 1) * shard_, offset + length);
        move(holder_of(shard), shard / holders_ * shard_ + begin % shard_, begin - offset,
             end - begin);
    }
}

std::int64_t ParameterStore::issue() {
    return versions_->fetch_add(issued_on, issued_counter, 1);
}

void ParameterStore::push(float scale, std::span<const float> update) {
    ENSURE(update.size() == length_, "a store of {} weights was given {}", length_, update.size());
    push_slice(scale, 0, update);
    finish_push();
}

void ParameterStore::push_slice(float scale, std::size_t offset, std::span<const float> update) {
    std::vector<Window::Target> targets;
    for_each_shard(offset, update.size(),
                   [&](int owner, std::size_t place, std::size_t begin, std::size_t count) {
                       targets.push_back({owner, place, update.subspan(begin, count)});
                   });
    window_->start_add_all(scale, targets);
}

void ParameterStore::finish_push() {
    window_->finish_adds();
    versions_->fetch_add(done_on_, done_counter, 1);
}

std::int64_t ParameterStore::version() {
    return versions_->read(done_on_, done_counter);
}

std::int64_t ParameterStore::issued() {
    return versions_->read(issued_on, issued_counter);
}

void ParameterStore::pull(std::span<float> out) {
    ENSURE(out.size() == length_, "a store of {} weights was given {}", length_, out.size());
    std::vector<Window::Source> sources;
    for_each_shard(0, out.size(),
                   [&](int owner, std::size_t place, std::size_t begin, std::size_t count) {
                       sources.push_back({owner, place, out.subspan(begin, count)});
                   });
    window_->get_all(sources);
}

}  // namespace wasp
