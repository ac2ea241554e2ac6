#include "run.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace wasp {

SamplerSetup sampler_setup(const TrainConfig& config, const ProtocolFacts& facts,
                           const Holdout& holdout, int worker, int workers) {
    SamplerSetup setup{.images = holdout.train.size(),
                       .batch = static_cast<std::size_t>(config.batch),
                       .worker = worker,
                       .workers = workers,
                       .shards = *config.shards,
                       .order = config.order,
                       .seed = static_cast<std::uint64_t>(config.seed)};
    if (facts.groups > 0 && setup.shards == Shards::full) {
        setup.workers = workers / facts.groups;
        setup.worker = worker % setup.workers;
        setup.shards = Shards::disjoint;
        setup.seed = RandomStream(setup.seed, "group", worker / setup.workers)();
    }
    return setup;
}

std::size_t evaluation_batch(const TrainConfig& config) {
    constexpr std::int64_t enough = 32;  // to fill vectors and threads
    return static_cast<std::size_t>(std::max(config.batch, enough));
}

}  // namespace wasp
