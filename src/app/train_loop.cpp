#include "train_loop.hpp"

#include <cmath>

#include "signals.hpp"

namespace wasp {

namespace {

SgdSetup sgd_setup(const TrainConfig& config) {
    return {.momentum = static_cast<float>(config.momentum),
            .weight_decay = static_cast<float>(config.weight_decay),
            .nesterov = config.nesterov};
}

}  // namespace

TrainLoop::TrainLoop(Run& run, Evaluations& evaluations, Journal* journal, RankRow place)
    : run_(run),
      evaluations_(evaluations),
      journal_(journal),
      sampler_(
          sampler_setup(run.config, run.holdout, run.team.worker.value_or(0), run.team.workers)),
      plan_(run.config, sampler_, run.team.workers),
      recorder_(std::move(place), *run.config.record_every, plan_.steps()),
      maker_(run.dataset, run.dataset.train),
      rate_(run.config.schedule, run.config.learning_rate, run.config.warmup, plan_.epochs()),
      sgd_(run.model.weights().size(), sgd_setup(run.config)),
      protocol_(
          make_protocol(run.config.protocol, {.cluster = run.cluster,
                                              .sgd = sgd_,
                                              .weights = run.model.weights(),
                                              .seed = static_cast<std::uint64_t>(run.config.seed),
                                              .planned_steps = plan_.steps()})),
      images_(static_cast<std::size_t>(run.config.batch)) {
    if (run.cluster.place().nodes == 1) return;  // there, nobody needs my help
    run.model.set_between_layers([this] {
        const Stopwatch watch;
        run_.cluster.poll();
        poll_seconds_ += watch.seconds();
    });
}

Ending TrainLoop::run() {
    run_.cluster.barrier();
    start_ = run_.cluster.seconds();
    Ending ending = run_.team.worker ? train() : Ending{};
    protocol_->finish({run_.model.weights(), run_.model.gradients()});
    ending.seconds = training_seconds();
    if (run_.team.worker) run_.control.done();
    run_.control.wait_until_all_done();
    return ending;
}

Ending TrainLoop::train() {
    for (std::int64_t step = 0; step < plan_.steps(); ++step) {
        run_.control.wait_while_paused();
        if (const auto reason = reason_to_stop()) return {*reason, step};

        Step record = compute(step);
        if (diverged(record.loss)) {
            run_.control.stop_all();
            return {Reason::diverged, step, record.loss};
        }
        exchange(record);
        recorder_.add(record);
        run_.control.add_samples(record.samples);

        const std::int64_t steps = step + 1;
        if (steps == plan_.steps()) break;  // the final model is evaluated when all are done
        if (evaluations_.due(steps, plan_.epoch_before(steps), record.end) && evaluate()) {
            run_.control.stop_all();
            return {Reason::target, steps};
        }
        if (journal_ != nullptr) journal_->after_step(recorder_, [&] { return state(steps); });
    }
    return {Reason::finished, plan_.steps()};
}

std::optional<Reason> TrainLoop::reason_to_stop() {
    run_.cluster.check_alive();
    if (run_.control.stopping()) return Reason::told;
    if (stop_signal() == 0) return std::nullopt;
    run_.control.stop_all();
    return Reason::signal;
}

/// The gradient of one mini-batch.
Step TrainLoop::compute(std::int64_t step) {
    Step record;
    watch_.lap();
    sgd_.set_learning_rate(static_cast<float>(rate_.at(plan_.epoch_before(step))));
    const ImageBatch batch = maker_.make(images_of(step));
    record.data = watch_.lap();

    poll_seconds_ = 0;
    const Score score = run_.model.train_step(batch);
    record.poll = poll_seconds_;
    record.compute = watch_.lap() - poll_seconds_;
    record.loss = static_cast<float>(score.loss());
    record.samples = score.images;
    return record;
}

/// The gradient becomes everyone's weights.
void TrainLoop::exchange(Step& record) {
    const double paused_before = run_.control.paused_seconds();
    record.exchange =
        protocol_->exchange({run_.model.weights(), run_.model.gradients()}, record.loss);
    Exchange& done = record.exchange;
    const double paused = run_.control.paused_seconds() - paused_before;
    // What the protocol did neither with others nor for them is arithmetic.
    record.compute +=
        std::max(0.0, watch_.lap() - done.pull_seconds - done.push_seconds - done.wait_seconds);
    done.wait_seconds = std::max(0.0, done.wait_seconds - paused);
    record.end = training_seconds();
}

std::span<const std::uint32_t> TrainLoop::images_of(std::int64_t step) {
    const auto chosen = sampler_.batch(plan_.epoch(step), plan_.batch(step));
    if (run_.holdout.validation.empty()) return chosen;
    for (std::size_t i = 0; i < chosen.size(); ++i) images_[i] = run_.holdout.train[chosen[i]];
    return std::span(images_).first(chosen.size());
}

bool TrainLoop::diverged(float loss) const {
    return !std::isfinite(loss) || static_cast<double>(loss) > run_.config.max_loss;
}

/// Returns whether the run is to stop as its target is reached.
bool TrainLoop::evaluate() {
    const auto row = evaluations_.take(row_now());
    if (!row) return false;
    accuracy_ = row->test_accuracy;
    if (journal_ != nullptr) journal_->add(*row, recorder_);
    return run_.config.stop_at_target && accuracy_ >= *run_.config.target_accuracy;
}

double TrainLoop::training_seconds() {
    return run_.cluster.seconds() - start_ - run_.control.paused_seconds();
}

CurveRow TrainLoop::row_now() {
    CurveRow row;
    row.seconds = training_seconds();
    row.samples =
        run_.facts.shares_weights ? run_.control.samples_of_all() : recorder_.row().samples;
    const double models = run_.facts.shares_weights ? 1 : run_.team.workers;
    row.epoch =
        static_cast<double>(row.samples) * models / static_cast<double>(run_.images_per_epoch());
    row.version = protocol_->version();
    row.train_loss = recorder_.recent_loss();
    row.learning_rate = static_cast<double>(sgd_.learning_rate());
    return row;
}

ProgressState TrainLoop::state(std::int64_t steps) {
    ProgressState state;
    state.share = static_cast<double>(steps) / static_cast<double>(plan_.steps());
    state.epoch = plan_.epoch_before(steps);
    state.epochs = plan_.epochs();
    state.seconds = training_seconds();
    state.samples_per_second =
        static_cast<double>(recorder_.row().samples * run_.team.workers) / state.seconds;
    state.loss = recorder_.recent_loss();
    state.staleness =
        run_.facts.shares_weights ? static_cast<double>(recorder_.last_staleness()) : -1;
    state.accuracy = accuracy_;
    return state;
}

}  // namespace wasp
