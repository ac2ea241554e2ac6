#include "norm_statistics.hpp"

#include <algorithm>

#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

constexpr std::size_t most_images = 2048;  // to estimate from: a channel's mean to some percent

/// Every n-th of the images trained on.
std::vector<std::uint32_t> sample(const Holdout& holdout) {
    const std::size_t all = holdout.train.size(), count = std::min(most_images, all);
    std::vector<std::uint32_t> images(count);
    for (std::size_t i = 0; i < count; ++i) images[i] = holdout.train[i * all / count];
    return images;
}

}  // namespace

NormStatistics::NormStatistics(Run& run) : run_(run), state_(run.model.state()) {
    if (!is(NormPolicy::average) || run.team.workers == 1 || state_.empty()) return;
    board_.emplace(run.cluster, state_.size());
    other_.resize(state_.size());
}

void NormStatistics::publish(std::int64_t steps) {
    if (board_) board_->publish(steps, 0, state_);
}

void NormStatistics::settle() {
    settle_copy();
    estimate_own();
}

/// The mean of all workers', as each last published them; mine as they are.
void NormStatistics::settle_copy() {
    before_.assign(state_.begin(), state_.end());
    if (!board_) return;
    float models = 1;
    for (int rank = run_.first_worker(); rank < run_.cluster.size(); ++rank) {
        if (rank == run_.cluster.rank() || !board_->look(rank, other_)) continue;
        axpy(1, other_, state_);
        ++models;
    }
    scale(1 / models, state_);
}

void NormStatistics::restore() {
    copy(before_, state_);
}

void NormStatistics::finish() {
    if (is(NormPolicy::average)) {
        if (!run_.team.worker) std::ranges::fill(state_, 0.0F);
        run_.cluster.sum(state_);
        scale(1 / static_cast<float>(run_.team.workers), state_);
    } else if (!state_.empty() && run_.facts.shares_weights) {  // one model has one worker's
        run_.cluster.broadcast(std::as_writable_bytes(state_), run_.first_worker());
    }
}

void NormStatistics::estimate_own() {
    if (is(NormPolicy::reestimate)) estimate(0, 1);
}

void NormStatistics::estimate_shared() {
    if (!is(NormPolicy::reestimate)) return;
    const auto ranks = static_cast<std::size_t>(run_.cluster.size());
    estimate(static_cast<std::size_t>(run_.cluster.rank()), ranks);
    run_.cluster.sum(state_);
    scale(1 / static_cast<float>(ranks), state_);
}

/// Source: Wu and Johnson 2021, "Rethinking 'batch' in BatchNorm", section 3: the mean of many
/// mini-batches of the training images, with the weights as they are.
void NormStatistics::estimate(std::size_t part, std::size_t parts) {
    const auto images = sample(run_.holdout);
    const auto batch = std::min(static_cast<std::size_t>(run_.config.batch), images.size());
    const std::size_t batches = std::max<std::size_t>(1, images.size() / batch / parts);
    BatchMaker maker(run_.dataset, run_.dataset.train);
    for (std::size_t i = 0; i < batches; ++i) {
        const std::size_t index = (i * parts + part) % (images.size() / batch);
        run_.model.observe(maker.make(std::span(images).subspan(index * batch, batch)),
                           1 / static_cast<double>(i + 1));
    }
}

}  // namespace wasp
