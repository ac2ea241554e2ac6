#include "overlapped_rounds.hpp"

#include <algorithm>

#include "tensor/vector_ops.hpp"

namespace wasp {

OverlappedRounds::OverlappedRounds(Cluster& cluster, std::size_t length)
    : cluster_(cluster),
      sums_(
          cluster.make_background_sums(std::max(std::min(length, GradientBuckets::largest),
                                                words * static_cast<std::size_t>(cluster.size())))),
      buckets_(length),
      words_(words * static_cast<std::size_t>(cluster.size())) {}

void OverlappedRounds::begin(float takes_part, float contributes, float rate) {
    std::ranges::fill(words_, 0.0F);
    const auto mine = std::span(words_).subspan(words * static_cast<std::size_t>(cluster_.rank()));
    mine[static_cast<std::size_t>(Word::takes_part)] = takes_part;
    mine[static_cast<std::size_t>(Word::contributes)] = contributes;
    mine[static_cast<std::size_t>(Word::rate)] = contributes * rate;
    sums_->start(words_);
}

void OverlappedRounds::add(std::span<float> gradients, std::size_t offset, std::size_t count,
                           float rate) {
    if (!buckets_.started()) {
        left_out_ = !all_finite(gradients.subspan(offset, count));
        begin(1, left_out_ ? 0 : 1, rate);
    }
    buckets_.add(offset, count, [&](std::size_t first, std::size_t size) {
        const auto bucket = gradients.subspan(first, size);
        if (left_out_) std::ranges::fill(bucket, 0.0F);
        sums_->start(bucket);
    });
}

Round OverlappedRounds::finish(std::span<float> gradients) {
    ENSURE(buckets_.complete(), "bug: a round without the whole gradient of {} floats",
           gradients.size());
    sums_->finish();
    buckets_.restart();
    return round();
}

void OverlappedRounds::join_until_all_are_done(std::span<float> gradients) {
    if (buckets_.started()) finish(gradients);  // of a worker that stopped after computing
    while (true) {
        begin(0, 0, 0);
        sums_->finish();
        if (total(Word::takes_part) == 0) return;
        std::ranges::fill(gradients, 0.0F);
        buckets_.add(0, gradients.size(), [&](std::size_t first, std::size_t size) {
            sums_->start(gradients.subspan(first, size));
        });
        sums_->finish();
        buckets_.restart();
    }
}

double OverlappedRounds::total(Word word) const {
    double sum = 0;
    for (auto at = static_cast<std::size_t>(word); at < words_.size(); at += words)
        sum += static_cast<double>(words_[at]);
    return sum;
}

Round OverlappedRounds::round() const {
    const double active = total(Word::contributes);
    return {active, total(Word::rate) / active};
}

}  // namespace wasp
