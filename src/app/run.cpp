#include "run.hpp"

#include <algorithm>

namespace wasp {

SamplerSetup sampler_setup(const TrainConfig& config, const Holdout& holdout, int worker,
                           int workers) {
    return {.images = holdout.train.size(),
            .batch = static_cast<std::size_t>(config.batch),
            .worker = worker,
            .workers = workers,
            .shards = *config.shards,
            .order = config.order,
            .seed = static_cast<std::uint64_t>(config.seed)};
}

std::size_t evaluation_batch(const TrainConfig& config) {
    constexpr std::int64_t enough = 32;  // to fill vectors and threads
    return static_cast<std::size_t>(std::max(config.batch, enough));
}

}  // namespace wasp
