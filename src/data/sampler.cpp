#include "data/sampler.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/random.hpp"

namespace wasp {

Sampler::Sampler(const SamplerSetup& setup) : setup_(setup) {
    REQUIRE(setup.batch > 0, "the batch must hold at least one image");
    REQUIRE(setup.images <= std::numeric_limits<std::uint32_t>::max(), "{} images, at most {}",
            setup.images, std::numeric_limits<std::uint32_t>::max());
    ENSURE(setup.workers > 0 && setup.worker >= 0 && setup.worker < setup.workers,
           "bug: worker {} of {}", setup.worker, setup.workers);
}

std::size_t Sampler::images_per_epoch() const {
    if (setup_.shards == Shards::full) return setup_.images;
    const auto workers = static_cast<std::size_t>(setup_.workers);
    const auto worker = static_cast<std::size_t>(setup_.worker);
    return setup_.images / workers + (worker < setup_.images % workers ? 1 : 0);
}

std::size_t Sampler::batches_per_epoch() const {
    return (images_per_epoch() + setup_.batch - 1) / setup_.batch;
}

void Sampler::start(std::int64_t epoch) {
    const bool disjoint = setup_.shards == Shards::disjoint;
    std::vector<std::uint32_t> all(setup_.images);
    std::iota(all.begin(), all.end(), 0U);
    if (setup_.order == Order::shuffle) {
        RandomStream random(setup_.seed, "sampler", disjoint ? 0 : setup_.worker, epoch);
        shuffle(all, random);
    }
    if (!disjoint) {
        order_ = std::move(all);
    } else {
        order_.resize(images_per_epoch());
        const auto workers = static_cast<std::size_t>(setup_.workers);
        for (std::size_t i = 0; i < order_.size(); ++i)
            order_[i] = all[i * workers + static_cast<std::size_t>(setup_.worker)];
    }
    epoch_ = epoch;
}

std::span<const std::uint32_t> Sampler::batch(std::int64_t epoch, std::size_t index) {
    ENSURE(index < batches_per_epoch(), "bug: batch {} of {}", index, batches_per_epoch());
    if (epoch != epoch_) start(epoch);
    const std::size_t first = index * setup_.batch;
    return std::span(order_).subspan(first, std::min(setup_.batch, order_.size() - first));
}

}  // namespace wasp
