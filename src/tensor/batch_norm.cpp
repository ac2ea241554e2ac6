#include "tensor/batch_norm.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "channel_kernels.hpp"
#include "tensor/parallel.hpp"

namespace wasp {

namespace {

constexpr double epsilon = 1e-5;

/// Channels that are worked on at once. With the channels last a pixel has them all side by side:
/// as many vectors as the kernels take, so that whole cache lines are used.
int group_vectors(ActivationLayout layout, std::size_t channels) {
    if (layout.order != ActivationOrder::channels_last) return 1;
    const auto blocks = channels / static_cast<std::size_t>(layout.block);
    return blocks % 4 == 0 ? 4 : blocks % 2 == 0 ? 2 : 1;
}

}  // namespace

/// How the threads share out one activation tensor: by groups of channels, and where there are less
/// groups than threads also by parts of the batch.
struct BatchNorm::Walk {
    Walk(const BatchNorm& layer, int images, int pixels)
        : vectors(group_vectors(layer.layout_, layer.channels_)),
          width(static_cast<std::size_t>(vectors * layer.layout_.block)),
          groups(layer.channels_ / width),
          precision(layer.layout_.precision) {
        const auto steps = layer.layout_.steps({images, static_cast<int>(layer.channels_), pixels});
        group_step = vectors * static_cast<std::ptrdiff_t>(steps.block);
        switch (layer.layout_.order) {
            case ActivationOrder::planes:  // one run; parts are of whole cache lines
                one_channel = true;
                step = length = 64;
                last = group_step;
                break;
            case ActivationOrder::blocks:
                length = group_step;
                step = static_cast<std::ptrdiff_t>(steps.image);
                last = images * step;
                break;
            case ActivationOrder::channels_last:
                length = group_step;
                step = static_cast<std::ptrdiff_t>(steps.pixel);
                last = std::ptrdiff_t{images} * pixels * step;
                break;
        }
        units = static_cast<std::size_t>((last + step - 1) / step);
        ASSERT(groups > 0, "{} channels in groups of {}", layer.channels_, width);
        const auto threads = static_cast<std::size_t>(available_threads());
        parts = groups >= threads ? 1 : std::min((threads + groups - 1) / groups, units);
    }

    ChannelRuns part(std::size_t group, std::size_t index) const {
        const auto first_unit = static_cast<std::ptrdiff_t>(units * index / parts);
        const auto end_unit = static_cast<std::ptrdiff_t>(units * (index + 1) / parts);
        ChannelRuns runs{
            .precision = precision,
            .one_channel = one_channel,
            .vectors = vectors,
            .begin = static_cast<std::ptrdiff_t>(group) * group_step + first_unit * step,
            .step = step,
            .count = end_unit - first_unit,
            .length = length};
        if (one_channel) {  // neighbouring units are one run
            runs.count = 1;
            runs.length = std::min(end_unit * step, last) - first_unit * step;
        }
        return runs;
    }

    /// sum(group, part) for all, then finish(group) for all, then apply(group, part) for all. A
    /// group that one thread has alone goes through all three while it is in the cache.
    template <class Sum, class Finish, class Apply>
    void run(Sum sum, Finish finish, Apply apply) const {
        if (parts == 1) {
            parallel_ranges(groups, 1, [&](std::size_t begin, std::size_t end) {
                for (std::size_t g = begin; g < end; ++g) {
                    sum(g, 0);
                    finish(g);
                    apply(g, 0);
                }
            });
            return;
        }
        each(sum);
        parallel_ranges(groups, 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t g = begin; g < end; ++g) finish(g);
        });
        each(apply);
    }

    template <class Body>
    void each(Body body) const {
        parallel_ranges(groups * parts, 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) body(i / parts, i % parts);
        });
    }

    int vectors;
    std::size_t width, groups;  // channels of a group; groups
    Precision precision;
    bool one_channel = false;
    // Elements from a group to the next, from a unit to the next, of a unit; where the last ends.
    std::ptrdiff_t group_step = 0, step = 1, length = 1, last = 0;
    std::size_t units = 1, parts = 1;
};

BatchNorm::BatchNorm(const Kernels& kernels, ActivationLayout layout, int channels)
    : kernels_(&kernels),
      layout_(layout),
      channels_(static_cast<std::size_t>(channels)),
      mean_(channels_),
      inverse_deviation_(channels_),
      scale_(channels_),
      shift_(channels_),
      correction_(2 * channels_) {
    ASSERT(channels % layout.block == 0, "{} channels in blocks of {}", channels, layout.block);
}

std::span<float> BatchNorm::row(AlignedFloats& values, int part) {
    return std::span(values).subspan(static_cast<std::size_t>(part) * channels_, channels_);
}

void BatchNorm::fold(std::size_t c, double mean, double variance,
                     BatchNormPair<const float> scale) {
    const double inverse = 1 / std::sqrt(variance + epsilon);
    mean_[c] = static_cast<float>(mean);
    inverse_deviation_[c] = static_cast<float>(inverse);
    scale_[c] = static_cast<float>(scale.gamma[c] * inverse);
    shift_[c] = static_cast<float>(scale.beta[c] - mean * (scale.gamma[c] * inverse));
}

void BatchNorm::forward(const Forward& work, BatchNormPair<const float> scale,
                        RunningStatistics running) {
    const Walk walk(*this, work.images, work.pixels);
    sums_.resize(3 * channels_ * walk.parts);
    const double count = static_cast<double>(work.images) * work.pixels;
    const auto& kernels = *kernels_->channels;
    walk.run(
        [&](std::size_t g, std::size_t part) {
            const std::size_t sums = 3 * part * channels_ + g * walk.width;
            kernels.sums({.runs = walk.part(g, part),
                          .x = work.x,
                          .first = walk.part(g, 0).begin,
                          .origin = &sums_[sums],
                          .sum = &sums_[sums + channels_],
                          .squares = &sums_[sums + 2 * channels_]});
        },
        [&](std::size_t g) {
            for (std::size_t c = g * walk.width; c < (g + 1) * walk.width; ++c) {
                double sum = 0, squares = 0;
                for (std::size_t part = 0; part < walk.parts; ++part) {
                    sum += sums_[(3 * part + 1) * channels_ + c];
                    squares += sums_[(3 * part + 2) * channels_ + c];
                }
                const double distance = sum / count;
                const double mean = sums_[c] + distance;
                const double variance = std::max(0.0, squares / count - distance * distance);
                fold(c, mean, variance, scale);
                const double unbiased = count > 1 ? variance * count / (count - 1) : variance;
                running.mean[c] += static_cast<float>(
                    running.weight * (mean - static_cast<double>(running.mean[c])));
                running.variance[c] += static_cast<float>(
                    running.weight * (unbiased - static_cast<double>(running.variance[c])));
            }
        },
        [&](std::size_t g, std::size_t part) { apply(work, walk.part(g, part), g * walk.width); });
}

/// scale_ and shift_, to the channels from c on.
void BatchNorm::apply(const Forward& work, const ChannelRuns& runs, std::size_t c) const {
    kernels_->channels->scaling({.runs = runs,
                                 .x = work.x,
                                 .residual = work.residual,
                                 .scale = &scale_[c],
                                 .shift = &shift_[c],
                                 .relu = work.relu,
                                 .y = work.y});
}

void BatchNorm::inference(const Forward& work, BatchNormPair<const float> scale,
                          RunningStatistics running) {
    for (std::size_t c = 0; c < channels_; ++c)
        fold(c, running.mean[c], running.variance[c], scale);
    const Walk walk(*this, work.images, work.pixels);
    walk.each(
        [&](std::size_t g, std::size_t part) { apply(work, walk.part(g, part), g * walk.width); });
}

void BatchNorm::backward(const Backward& work, std::span<const float> gamma,
                         BatchNormPair<float> gradient) {
    ASSERT(work.relu || work.y == nullptr, "the sign of y without a ReLU");
    const Walk walk(*this, work.images, work.pixels);
    sums_.resize(2 * channels_ * walk.parts);
    const double count = static_cast<double>(work.images) * work.pixels;
    const auto offset = row(correction_, 0), slope = row(correction_, 1);
    const auto& kernels = *kernels_->channels;
    walk.run(
        [&](std::size_t g, std::size_t part) {
            const std::size_t c = g * walk.width, sums = 2 * part * channels_ + c;
            kernels.gradient_sums({.runs = walk.part(g, part),
                                   .x = work.x,
                                   .y = work.y,
                                   .more = work.more,
                                   .dy = work.dy,
                                   .mean = &mean_[c],
                                   .scale = &scale_[c],
                                   .shift = &shift_[c],
                                   .relu = work.relu,
                                   .sum = &sums_[sums],
                                   .product = &sums_[sums + channels_]});
        },
        [&](std::size_t g) {
            for (std::size_t c = g * walk.width; c < (g + 1) * walk.width; ++c) {
                double sum = 0, product = 0;
                for (std::size_t part = 0; part < walk.parts; ++part) {
                    sum += sums_[2 * part * channels_ + c];
                    product += sums_[(2 * part + 1) * channels_ + c];
                }
                const double inverse = inverse_deviation_[c];
                gradient.beta[c] = static_cast<float>(sum);
                gradient.gamma[c] = static_cast<float>(product * inverse);
                const double factor = gamma[c] * inverse / count;
                offset[c] = static_cast<float>(factor * sum);
                slope[c] = static_cast<float>(factor * product * inverse * inverse);
            }
        },
        [&](std::size_t g, std::size_t part) {
            const std::size_t c = g * walk.width;
            kernels.gradient({.runs = walk.part(g, part),
                              .x = work.x,
                              .dy = work.dy,
                              .mean = &mean_[c],
                              .scale = &scale_[c],
                              .shift = &shift_[c],
                              .offset = &offset[c],
                              .slope = &slope[c],
                              .relu = work.relu && work.y == nullptr,
                              .dx = work.dx});
        });
}

}  // namespace wasp
