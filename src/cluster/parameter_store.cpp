#include "cluster/parameter_store.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"

namespace wasp {

// Shards are whole blocks, so that no two of them meet in one.
ParameterStore::ParameterStore(Cluster& cluster, std::span<const float> weights, int owners)
    : cluster_(cluster), length_(weights.size()), owners_(owners) {
    ENSURE(owners >= 1 && owners <= cluster.size(), "a store on {} of {} ranks", owners,
           cluster.size());
    const auto n = static_cast<std::size_t>(owners);
    const std::size_t block = Window::block / cluster.weights_per_float();
    const std::size_t blocks = (length_ + block - 1) / block;
    shard_ = std::max<std::size_t>(1, (blocks + n - 1) / n) * block;
    const std::size_t begin = std::min(length_, static_cast<std::size_t>(cluster.rank()) * shard_);
    here_ = cluster.rank() < owners ? std::min(shard_, length_ - begin) : 0;
    window_ = cluster.make_window(here_);
    versions_ = cluster.make_counters(counters);
    if (here_ > 0) window_->put(cluster.rank(), 0, weights.subspan(begin, here_));
    cluster.barrier();
}

// move(owner, place, begin, count): content[offset + begin, … + count) lies from `place` on in the
// owner's shard. Each rank begins with another shard: so they are spread over the owners at every
// moment.
template <class Move>
void ParameterStore::for_each_shard(std::size_t offset, std::size_t length, Move move) {
    ENSURE(offset + length <= length_, "a store of {} weights was given {} from {} on", length_,
           length, offset);
    for (int i = 0; i < owners_; ++i) {
        const int owner = (cluster_.rank() + i) % owners_;
        const std::size_t shard = static_cast<std::size_t>(owner) * shard_;
        const std::size_t begin = std::max(shard, offset);
        const std::size_t end = std::min(shard + shard_, offset + length);
        if (begin < end) move(owner, begin - shard, begin - offset, end - begin);
    }
}

std::int64_t ParameterStore::issue() {
    return versions_->fetch_add(0, issued_counter, 1);
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
    versions_->fetch_add(0, done_counter, 1);
}

std::int64_t ParameterStore::version() {
    return versions_->read(0, done_counter);
}

std::int64_t ParameterStore::issued() {
    return versions_->read(0, issued_counter);
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
