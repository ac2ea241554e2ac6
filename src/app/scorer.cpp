#include "scorer.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace wasp {

namespace {

std::vector<std::uint32_t> all_of(const Split& split) {
    std::vector<std::uint32_t> images(split.size());
    std::iota(images.begin(), images.end(), 0U);
    return images;
}

}  // namespace

Scorer::Scorer(Model& model, const Dataset& dataset, const Split& split,
               std::vector<std::uint32_t> images, std::size_t batch)
    : model_(model),
      split_(split),
      maker_(dataset, split),
      images_(std::move(images)),
      batch_(batch) {}

Scorer::Scorer(Model& model, const Dataset& dataset, const Split& split, std::size_t batch)
    : Scorer(model, dataset, split, all_of(split), batch) {}

Score Scorer::score(std::size_t first, std::size_t count, std::span<float> logits) {
    const auto classes = static_cast<std::size_t>(model_.classes());
    Score total;
    for (std::size_t done = 0; done < count;) {
        const std::size_t size = std::min(batch_, count - done);
        const auto part = logits.empty() ? logits : logits.subspan(done * classes, size * classes);
        const Score score =
            model_.evaluate(maker_.make(std::span(images_).subspan(first + done, size)), part);
        total.loss_sum += score.loss_sum;
        total.correct += score.correct;
        total.images += score.images;
        done += size;
    }
    return total;
}

Score Scorer::score_together(Cluster& cluster) {
    const auto ranks = static_cast<std::size_t>(cluster.size());
    const auto rank = static_cast<std::size_t>(cluster.rank());
    const std::size_t first = images() * rank / ranks;
    const Score mine = score(first, images() * (rank + 1) / ranks - first);
    std::array sums{mine.loss_sum, static_cast<double>(mine.correct),
                    static_cast<double>(mine.images)};
    cluster.sum(sums);
    return {sums[0], static_cast<std::int64_t>(sums[1]), static_cast<std::int64_t>(sums[2])};
}

}  // namespace wasp
