#include "final_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ensemble.hpp"
#include "scorer.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

/// The images that final models are scored on. A set may be empty: its scores are NaN then.
struct Examination {
    Scorer validation, test;

    explicit Examination(const Run& run)
        : validation(run.model, run.dataset, run.dataset.train, run.holdout.validation,
                     evaluation_batch(run.config)),
          test(run.model, run.dataset,
               run.config.evaluation == Evaluation::none ? Split{} : run.dataset.test,
               evaluation_batch(run.config)) {}

    ModelRow examine_together(Run& run, const std::string& name) {
        const Score validated = validation.score_together(run.cluster);
        const Score tested = test.score_together(run.cluster);
        return {name, validated.loss(), tested.loss(), tested.accuracy()};
    }
};

/// By worker, on every rank.
std::vector<double> of_all_workers(Run& run, double mine) {
    std::vector<double> values(static_cast<std::size_t>(run.team.workers));
    if (run.team.worker) values[static_cast<std::size_t>(*run.team.worker)] = mine;
    run.cluster.sum(values);
    return values;
}

/// A row for each worker's model, and one for all of them as a committee.
std::vector<ModelRow> examine_workers(Run& run, Examination& examination, double& disagreement) {
    const auto validation = score_ensemble(run, examination.validation);
    const auto test = score_ensemble(run, examination.test);
    disagreement = test.disagreement;
    const auto validation_loss = of_all_workers(run, validation.mine.loss());
    const auto test_loss = of_all_workers(run, test.mine.loss());
    const auto accuracy = of_all_workers(run, test.mine.accuracy());
    std::vector<ModelRow> rows;
    for (std::size_t worker = 0; worker < accuracy.size(); ++worker)
        rows.push_back({fmt::format("rank {}", run.first_worker() + static_cast<int>(worker)),
                        validation_loss[worker], test_loss[worker], accuracy[worker]});
    rows.push_back(
        {"ensemble", validation.ensemble.loss(), test.ensemble.loss(), test.ensemble.accuracy()});
    return rows;
}

/// run.model becomes the mean of all workers' models.
void take_mean(Run& run) {
    for (const auto part : {run.model.weights(), run.model.state()}) {
        if (!run.team.worker) std::ranges::fill(part, 0.0F);
        run.cluster.sum(part);
        scale(1.0F / static_cast<float>(run.team.workers), part);
    }
}

/// run.model holds the mean, `mine` is this worker's.
double spread_around_mean(Run& run, std::span<const float> mine) {
    const std::span<const float> mean = run.model.weights();
    const std::vector<float> zero(mean.size());
    const double distance = std::sqrt(squared_distance(mine, mean));
    const double length = std::sqrt(squared_distance(mean, zero));
    double sum = 0;
    for (const double value : of_all_workers(run, run.team.worker ? distance : 0)) sum += value;
    return sum / run.team.workers / length;
}

FinalModels choose_among_workers(Run& run, NormStatistics& statistics) {
    Examination examination(run);
    double disagreement = 0;
    auto rows = examine_workers(run, examination, disagreement);
    const auto loss = [](const ModelRow& row) {
        return std::isnan(row.validation_loss) ? std::numeric_limits<double>::infinity()
                                               : row.validation_loss;
    };
    const auto found = std::ranges::min_element(rows.begin(), rows.end() - 1, {}, loss);
    const int best_rank = run.first_worker() + static_cast<int>(found - rows.begin());
    ModelRow best = *found;
    best.name = "best";

    const std::vector<float> weights(run.model.weights().begin(), run.model.weights().end());
    const std::vector<float> state(run.model.state().begin(), run.model.state().end());
    take_mean(run);
    const double spread = spread_around_mean(run, weights);
    statistics.estimate_shared();
    const ModelRow mean = examination.examine_together(run, "mean");
    const bool mean_is_better = loss(mean) < loss(best);
    if (!mean_is_better) {
        copy(weights, run.model.weights());
        copy(state, run.model.state());
        for (const auto part : {run.model.weights(), run.model.state()})
            run.cluster.broadcast(std::as_writable_bytes(part), best_rank);
    }
    rows.insert(rows.end() - 1, {best, mean});
    return {std::move(rows), mean_is_better ? "mean" : "best", disagreement, spread};
}

}  // namespace

FinalModels final_models(Run& run, NormStatistics& statistics) {
    if (!run.facts.shares_weights) return choose_among_workers(run, statistics);
    return {.rows = {Examination(run).examine_together(run, "shared")}, .chosen = "shared"};
}

}  // namespace wasp
