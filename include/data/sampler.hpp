/// Which images a worker sees, in which order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace wasp {

enum class Shards {
    disjoint,
    full
};  ///< each worker its part of every epoch; or each worker everything
enum class Order { shuffle, sequential };  ///< anew every epoch; or as in the file

struct SamplerSetup {
    std::size_t images = 0;
    std::size_t batch = 64;  ///< per worker; an epoch's last one may be smaller, never empty
    int worker = 0, workers = 1;
    Shards shards = Shards::disjoint;
    Order order = Order::shuffle;
    std::uint64_t seed = 1;
};

/// Disjoint shards: one shuffle of all images an epoch, the same on each worker, dealt out like
/// cards, so that every image is seen once an epoch and shard sizes differ by at most one. Full:
/// each worker its own shuffle.
class Sampler {
public:
    explicit Sampler(const SamplerSetup& setup);

    std::size_t images_per_epoch()
        const;  ///< of this worker; may be 0 when there are more workers than images
    std::size_t batches_per_epoch() const;

    /// Batch `index` of `epoch`; valid until a batch of another epoch is asked for.
    std::span<const std::uint32_t> batch(std::int64_t epoch, std::size_t index);

private:
    void start(std::int64_t epoch);

    SamplerSetup setup_;
    std::int64_t epoch_ = -1;
    std::vector<std::uint32_t> order_;
};

}  // namespace wasp
