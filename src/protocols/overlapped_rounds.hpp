/// Rounds whose gradients are added up while the layers below are still computed.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cluster/cluster.hpp"
#include "gradient_buckets.hpp"
#include "rounds.hpp"

namespace wasp {

/// A round is begun by its workers' first slices: what meet() tells goes first, then bucket after
/// bucket. Who has finished takes part with zeros. A gradient whose first slice is not finite would
/// spoil everyone's weights before its worker sees the loss: it is left out.
class OverlappedRounds {
public:
    /// Collective.   length: of the gradient.
    OverlappedRounds(Cluster& cluster, std::size_t length);

    /// gradients[offset, offset + count) are final.
    void add(std::span<float> gradients, std::size_t offset, std::size_t count, float rate);
    void advance() { sums_->advance(); }

    /// Waits until `gradients` are the sum of all. They must all have been added.
    Round finish(std::span<float> gradients);

    /// Collective: this rank has no gradients any more.   gradients: to be overwritten.
    void join_until_all_are_done(std::span<float> gradients);

private:
    /// What a rank says of itself, in floats that the others leave zero: sums of these are exact.
    enum class Word : std::size_t { takes_part, contributes, rate };
    static constexpr std::size_t words = 3;
    void begin(float takes_part, float contributes, float rate);
    double total(Word word) const;
    Round round() const;

    Cluster& cluster_;
    std::unique_ptr<BackgroundSums> sums_;
    GradientBuckets buckets_;
    std::vector<float> words_;  // of all ranks
    bool left_out_ = false;
};

}  // namespace wasp
