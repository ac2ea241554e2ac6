#include "evaluations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/stopwatch.hpp"
#include "bytes.hpp"
#include "out_folder.hpp"

namespace wasp {

namespace {

constexpr std::size_t snapshot_memory = std::size_t{256} << 20U;  // bytes, per rank

std::array<std::span<float>, 2> parts_of(Model& model) {
    return {model.weights(), model.state()};
}

void set_score(CurveRow& row, const Score& score) {
    row.test_loss = score.loss();
    row.test_accuracy = score.accuracy();
}

/// Row i of the result is the mean of the workers' rows i, as far as all of them have one; samples
/// add up.
std::vector<CurveRow> mean_of(const std::vector<std::vector<CurveRow>>& curves) {
    std::vector<CurveRow> mean;
    std::size_t length = curves.front().size();
    for (const auto& curve : curves) length = std::min(length, curve.size());
    const double share = 1.0 / static_cast<double>(curves.size());
    for (std::size_t i = 0; i < length; ++i) {
        CurveRow row;
        row.version = curves.front()[i].version;
        row.learning_rate = curves.front()[i].learning_rate;
        for (const auto& curve : curves) {
            row.samples += curve[i].samples;
            row.seconds += share * curve[i].seconds;
            row.epoch += share * curve[i].epoch;
            row.train_loss += share * curve[i].train_loss;
            row.test_loss += share * curve[i].test_loss;
            row.test_accuracy += share * curve[i].test_accuracy;
        }
        mean.push_back(row);
    }
    return mean;
}

}  // namespace

Evaluations::Evaluations(Run& run, NormStatistics& statistics)
    : run_(run),
      statistics_(statistics),
      watches_(run.team.worker && (run.is_first_worker() || !run.facts.shares_weights) &&
               run.config.evaluation != Evaluation::none),
      timer_(run.config.eval_every, run.team.workers),
      test_(run.model, run.dataset, run.dataset.test, evaluation_batch(run.config)),
      snapshots_(snapshot_memory, folder_of(run.config.out)) {}

bool Evaluations::due(std::int64_t steps, double epoch, double seconds) {
    return watches_ && timer_.due(steps, epoch, seconds);
}

std::optional<CurveRow> Evaluations::take(const CurveRow& row) {
    if (run_.config.evaluation == Evaluation::inplace) return evaluate(row);
    const bool first_on_disk = snapshots_.on_disk() == 0;
    statistics_.settle_copy();
    copy_model(row);
    statistics_.restore();
    if (first_on_disk && snapshots_.on_disk() > 0 && run_.is_first_worker())
        fmt::print(stderr,
                   "wasp: note: copies of the weights for evaluation take more than {} MiB; "
                   "further ones go to a temporary file in '{}'\n",
                   snapshot_memory >> 20U, folder_of(run_.config.out).string());
    return std::nullopt;
}

CurveRow Evaluations::evaluate(CurveRow row) {
    const bool takes_time = !run_.cluster.is_virtual();
    const bool everyone_waits = run_.facts.shares_weights && takes_time;
    const Stopwatch watch;
    if (everyone_waits) run_.control.pause_all();
    statistics_.settle();
    set_score(row, test_.score_all());
    statistics_.restore();
    const double seconds = watch.seconds();
    if (everyone_waits)
        run_.control.resume_all(seconds);
    else if (takes_time)
        run_.control.add_pause(seconds);
    inline_seconds_ += seconds;
    curve_.push_back(row);
    return row;
}

std::vector<CurveRow> Evaluations::finish(const std::optional<CurveRow>& last) {
    if (run_.config.evaluation == Evaluation::none) {
        if (run_.facts.shares_weights)
            statistics_.estimate_shared();
        else
            statistics_.estimate_own();
        return {};
    }
    if (last && watches_) copy_model(*last);
    return run_.facts.shares_weights ? finish_shared() : finish_own();
}

void Evaluations::copy_model(const CurveRow& row) {
    const auto parts = parts_of(run_.model);
    snapshots_.take(row, std::array<std::span<const float>, 2>{parts[0], parts[1]});
}

void Evaluations::visit(State& state) {
    timer_.visit(state);
    snapshots_.visit(state, run_.model.weights().size() + run_.model.state().size());
    state.list("curve", curve_);
    state.value("inline_seconds", inline_seconds_);
}

/// One model after the other, each rank scoring its part of the test set.
std::vector<CurveRow> Evaluations::finish_shared() {
    const int root = run_.first_worker();
    const auto parts = parts_of(run_.model);
    std::size_t count = snapshots_.size();
    run_.cluster.broadcast(std::as_writable_bytes(std::span(&count, 1)), root);
    for (std::size_t i = 0; i < count; ++i) {
        if (watches_) snapshots_.load(i, parts);
        for (const auto& part : parts) run_.cluster.broadcast(std::as_writable_bytes(part), root);
        statistics_.estimate_shared();
        const Score score = test_.score_together(run_.cluster);
        if (!watches_) continue;
        set_score(curve_.emplace_back(snapshots_.row(i)), score);
    }
    return curve_;
}

/// Each worker its own models.
std::vector<CurveRow> Evaluations::finish_own() {
    const auto parts = parts_of(run_.model);
    for (std::size_t i = 0; i < snapshots_.size(); ++i) {
        snapshots_.load(i, parts);
        statistics_.estimate_own();
        set_score(curve_.emplace_back(snapshots_.row(i)), test_.score_all());
    }
    ByteWriter message;
    message.add(curve_);
    std::vector<std::vector<CurveRow>> curves;
    const auto messages = run_.cluster.gather(message.bytes(), run_.first_worker());
    for (std::size_t rank = 0; rank < messages.size(); ++rank) {
        if (static_cast<int>(rank) < run_.first_worker()) continue;
        ByteReader(messages[rank]).read(curves.emplace_back());
    }
    return curves.empty() ? std::vector<CurveRow>{} : mean_of(curves);
}

}  // namespace wasp
