#include "report/summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace wasp {
namespace {

/// The least s such that at least `percent` of all counts are at s or below it.
std::int64_t percentile(std::span<const std::int64_t> histogram, std::int64_t total, int percent) {
    // In whole numbers: 95 % of 20 is 19, whatever rounding makes of 0.95.
    const std::int64_t needed = (total * percent + 99) / 100;
    std::int64_t seen = 0;
    for (std::size_t s = 0; s < histogram.size(); ++s) {
        seen += histogram[s];
        if (seen >= needed) return static_cast<std::int64_t>(s);
    }
    return 0;
}

std::vector<std::int64_t> total_histogram(const std::vector<RankRow>& ranks) {
    std::vector<std::int64_t> total;
    for (const auto& rank : ranks) {
        total.resize(std::max(total.size(), rank.staleness.size()));
        for (std::size_t s = 0; s < rank.staleness.size(); ++s) total[s] += rank.staleness[s];
    }
    return total;
}

void add_curve(Summary& summary, const std::vector<CurveRow>& curve) {
    if (curve.empty()) return;
    const CurveRow& last = curve.back();
    summary.final_accuracy = last.test_accuracy;
    summary.final_loss = last.test_loss;
    summary.final_train_loss = last.train_loss;
    for (const auto& row : curve)  // fmax: a NaN beside a number is left out
        summary.best_accuracy = std::fmax(summary.best_accuracy, row.test_accuracy);
    const auto first = std::ranges::find_if(
        curve, [&](const CurveRow& row) { return row.test_accuracy >= summary.target_accuracy; });
    summary.reached = first != curve.end();
    if (summary.reached) {
        summary.time_to_accuracy = first->seconds;
        summary.updates_to_accuracy = static_cast<double>(first->version);
        summary.samples_to_accuracy = static_cast<double>(first->samples);
    }
    summary.train_test_gap = last.test_loss - last.train_loss;
    if (last.version > 0)
        summary.seconds_per_update = last.seconds / static_cast<double>(last.version);
}

void add_ranks(Summary& summary, const std::vector<RankRow>& ranks) {
    double weights = 0, waited = 0, recorded = 0, divergence = 0;
    std::int64_t synchronisations = 0;
    for (const auto& rank : ranks) {
        summary.bytes += rank.bytes;  // also of ranks that only serve
        if (rank.samples == 0) continue;
        ++summary.workers;
        summary.samples += rank.samples;
        summary.updates += rank.updates;
        summary.dropped += rank.dropped;
        weights += rank.weight_sum;
        divergence += rank.divergence_sum;
        synchronisations += rank.synchronisations;
        waited += rank.wait;
        recorded += rank.compute + rank.pull + rank.push + rank.wait + rank.poll + rank.data;
    }
    if (summary.updates > 0)
        summary.step_mass = summary.workers * weights / static_cast<double>(summary.updates);
    if (synchronisations > 0)
        summary.divergence_mean = divergence / static_cast<double>(synchronisations);
    if (recorded > 0) summary.idle_share = waited / recorded;
}

}  // namespace

StalenessSummary summarise_staleness(std::span<const std::int64_t> histogram) {
    StalenessSummary summary;
    const auto total = std::accumulate(histogram.begin(), histogram.end(), std::int64_t{0});
    if (total == 0) return summary;
    double sum = 0;
    for (std::size_t s = 0; s < histogram.size(); ++s) {
        sum += static_cast<double>(s) * static_cast<double>(histogram[s]);
        if (histogram[s] > 0) summary.max = static_cast<std::int64_t>(s);
    }
    summary.mean = sum / static_cast<double>(total);
    summary.p50 = percentile(histogram, total, 50);
    summary.p95 = percentile(histogram, total, 95);
    summary.p99 = percentile(histogram, total, 99);
    return summary;
}

Summary summarise(const Results& results, double training_seconds,
                  std::optional<double> target_accuracy) {
    Summary summary;
    summary.training_seconds = training_seconds;
    summary.target_accuracy = target_accuracy.value_or(Summary::unknown);
    add_curve(summary, results.curve);
    add_ranks(summary, results.ranks);
    if (training_seconds > 0)
        summary.samples_per_second = static_cast<double>(summary.samples) / training_seconds;
    summary.staleness = summarise_staleness(total_histogram(results.ranks));
    return summary;
}

Attributes as_attributes(const Summary& summary) {
    return {{"workers", std::int64_t{summary.workers}},
            {"samples", summary.samples},
            {"updates", summary.updates},
            {"bytes", summary.bytes},
            {"dropped", summary.dropped},
            {"training_seconds", summary.training_seconds},
            {"samples_per_second", summary.samples_per_second},
            {"final_accuracy", summary.final_accuracy},
            {"best_accuracy", summary.best_accuracy},
            {"final_loss", summary.final_loss},
            {"final_train_loss", summary.final_train_loss},
            {"target_accuracy", summary.target_accuracy},
            {"reached", summary.reached},
            {"time_to_accuracy", summary.time_to_accuracy},
            {"updates_to_accuracy", summary.updates_to_accuracy},
            {"samples_to_accuracy", summary.samples_to_accuracy},
            {"seconds_per_update", summary.seconds_per_update},
            {"train_test_gap", summary.train_test_gap},
            {"divergence_mean", summary.divergence_mean},
            {"staleness_mean", summary.staleness.mean},
            {"staleness_p50", summary.staleness.p50},
            {"staleness_p95", summary.staleness.p95},
            {"staleness_p99", summary.staleness.p99},
            {"staleness_max", summary.staleness.max},
            {"step_mass", summary.step_mass},
            {"idle_share", summary.idle_share}};
}

}  // namespace wasp
