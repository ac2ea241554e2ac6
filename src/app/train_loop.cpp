#include "train_loop.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "signals.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

SgdSetup sgd_setup(const TrainConfig& config) {
    return {.momentum = static_cast<float>(config.momentum),
            .weight_decay = static_cast<float>(config.weight_decay),
            .nesterov = config.nesterov};
}

double scale_of(RateScale scale, double workers) {
    switch (scale) {
        case RateScale::mean:
            return 1 / workers;
        case RateScale::sqrt:
            return std::sqrt(workers);
        case RateScale::linear:
            return workers;
        case RateScale::none:
            break;
    }
    return 1;
}

}  // namespace

TrainLoop::TrainLoop(Run& run, Evaluations& evaluations, NormStatistics& statistics,
                     Checkpoints& checkpoints, TimeLimit& limit, Journal* journal, RankRow place,
                     const Schedule* replay)
    : run_(run),
      evaluations_(evaluations),
      statistics_(statistics),
      checkpoints_(checkpoints),
      limit_(limit),
      journal_(journal),
      sampler_(sampler_setup(run.config, run.facts, run.holdout, run.team.worker.value_or(0),
                             run.team.workers)),
      plan_(run.config, sampler_, run.team.workers),
      recorder_(std::move(place), *run.config.record_every, plan_.steps()),
      maker_(run.dataset, run.dataset.train),
      augmenter_(run.config.augmentation, run.dataset.shape,
                 static_cast<std::uint64_t>(run.config.seed), run.team.worker.value_or(0)),
      rate_(run.config.schedule, run.config.learning_rate, run.config.warmup, plan_.epochs()),
      rate_scale_(scale_of(run.config.rate_scale, run.team.workers)),
      straggler_(run.config.straggler, run.cluster.place(), run.cluster.size()),
      last_step_(plan_.steps()),
      sgd_(run.model.weights().size(), sgd_setup(run.config)),
      images_(static_cast<std::size_t>(run.config.batch)),
      watch_(run.cluster) {
    if (replay != nullptr) {
        turns_.emplace(run.cluster, replay->turns);
        last_step_ = replay->steps[static_cast<std::size_t>(run.cluster.rank())];
        collectively(run.cluster, [&] {
            REQUIRE(last_step_ <= plan_.steps(),
                    "--replay: the schedule has {} steps of rank {}, which makes {}", last_step_,
                    run.cluster.rank(), plan_.steps());
        });
    } else if (!run.config.record_schedule.empty()) {
        turns_.emplace(run.cluster);
    }
    protocol_ = make_protocol(
        run.config.protocol,
        {.cluster = turns_ ? static_cast<Cluster&>(*turns_) : static_cast<Cluster&>(run.cluster),
         .sgd = sgd_,
         .weights = run.model.weights(),
         .seed = static_cast<std::uint64_t>(run.config.seed),
         .planned_steps = plan_.steps(),
         .momentum_at_server = run.config.momentum_at == MomentumAt::server,
         .overlap = run.config.overlap,
         .compression = parse_compression(run.config.compress),
         .shard_bytes = static_cast<std::size_t>(run.config.shard_bytes)});
    if (replay == nullptr && run.facts.can_pause && !run.cluster.is_virtual())
        cut_.emplace(run.cluster.bare(), run.first_worker());
    if (run.config.checkpoint_every)
        checkpoint_timer_.emplace(*run.config.checkpoint_every, run.team.workers);
    serve_between_layers();
}

void TrainLoop::serve_between_layers() {
    const Cluster& cluster = run_.cluster;
    if (cluster.is_virtual() && !run_.config.overlap) return;  // nobody waits for it there
    const bool others_need_me = cluster.place().nodes > 1 && !cluster.is_virtual();
    const bool serves = others_need_me || run_.config.overlap;
    Heartbeats& heartbeats = run_.cluster.heartbeats();
    run_.model.set_between_layers([this, others_need_me, serves, &heartbeats] {
        heartbeats.get_on();
        if (!serves) return;
        const Stopwatch watch;
        if (others_need_me) run_.cluster.poll();
        protocol_->between_layers();
        poll_seconds_ += watch.seconds();
    });
    if (run_.config.overlap)
        run_.model.set_gradient_ready([this](std::size_t offset, std::size_t count) {
            const Stopwatch watch;
            protocol_->gradient_ready({run_.model.weights(), run_.model.gradients()}, offset,
                                      count);
            poll_seconds_ += watch.seconds();
        });
}

Ending TrainLoop::run() {
    run_.cluster.barrier();
    run_.cluster.heartbeats().enter(Phase::exchanges);
    start_ = run_.cluster.seconds();
    if (checkpoints_.resume([this](State& state) { visit(state); })) {
        if (journal_ != nullptr) journal_->resume(evaluations_.curve(), recorder_);
        if (checkpoint_timer_)
            checkpoint_timer_->due(step_, plan_.epoch_before(step_), training_seconds());
    }
    Ending ending;
    if (run_.team.worker) ending = train();
    if (run_.team.worker && !retire(ending.reason)) {
        if (cut_) cut_->end();
    } else {
        attend_cuts(ending);
    }
    in_turn([this] { protocol_->finish({run_.model.weights(), run_.model.gradients()}); });
    if (run_.team.worker && ending.reason != Reason::diverged && !is_finite(run_.model))
        ending = unsound_ending(ending.step);
    ending.seconds = training_seconds();
    if (run_.team.worker) run_.control.done();
    run_.control.wait_until_all_done();
    return ending;
}

/// After my last step, where the others get on without me: then they can still come to cuts.
/// Returns whether I am to attend these.
bool TrainLoop::retire(Reason reason) {
    if (reason != Reason::finished) return false;
    retired_ = true;
    bool others_go_on = false;
    in_turn([&] { others_go_on = protocol_->retire(); });
    if (!cut_ || !others_go_on) return false;
    cut_->retire();
    return true;
}

/// Of a rank that makes no steps, while others do.
void TrainLoop::attend_cuts(Ending& ending) {
    const auto meanwhile = [this] {
        tell_of_reason();
        if (!run_.is_first_worker()) return;
        ask_for_checkpoint(step_, training_seconds());
        if (journal_ != nullptr) journal_->after_step(recorder_, [this] { return state(step_); });
    };
    while (cut_ && cut_->attend(meanwhile)) {
        if (!checkpoint()) {
            ending = unsound_ending(step_);
            return;
        }
        if (!cut_->is_the_end()) continue;
        if (const auto reason = own_reason()) ending = {*reason, step_};
        return;
    }
}

/// Of those who train, where they take turns.
template <class Work>
void TrainLoop::in_turn(Work work) {
    const bool takes_turns = turns_ && run_.team.worker;
    if (takes_turns) turns_->begin();
    work();
    if (takes_turns) turns_->end();
}

Schedule TrainLoop::schedule(int root) {
    return gather_schedule(run_.cluster, run_.config.protocol, length_in_words(run_.config),
                           recorder_.steps(), turns_->my_turns(), root);
}

Ending TrainLoop::train() {
    for (; step_ < last_step_; ++step_) {
        const std::int64_t step = step_;
        run_.cluster.heartbeats().start_step(step);
        run_.control.wait_while_paused();
        if (cut_ && cut_->reached(protocol_->place(step))) {
            if (!checkpoint()) return unsound_ending(step);
            if (cut_->is_the_end()) return {own_reason().value_or(Reason::told), step};
        }
        if (const auto reason = reason_to_stop()) return {*reason, step};

        Step record = compute(step);
        if (const auto ending = diverged(step, record.loss)) {
            run_.control.stop_all();
            return *ending;
        }
        exchange(record);
        statistics_.publish(step + 1);
        if (!run_.has_gradients) record.loss = std::numeric_limits<float>::quiet_NaN();
        recorder_.add(record);
        run_.control.add_samples(record.samples);

        const std::int64_t steps = step + 1;
        if (steps == last_step_) break;  // the final model is evaluated when all are done
        if (evaluations_.due(steps, plan_.epoch_before(steps), record.end) && evaluate()) {
            run_.control.stop_all();
            return {Reason::target, steps};
        }
        if (journal_ != nullptr) {
            const PhaseScope writes(run_.cluster.heartbeats(), Phase::writes);
            journal_->after_step(recorder_, [&] { return state(steps); });
        }
        if (run_.is_first_worker()) ask_for_checkpoint(steps, record.end);
    }
    step_ = last_step_;
    return {Reason::finished, last_step_};
}

std::optional<Reason> TrainLoop::reason_to_stop() {
    run_.cluster.check_alive();
    if (run_.control.stopping()) return Reason::told;
    const auto reason = own_reason();
    if (!reason || leave_it_to_the_cut()) return std::nullopt;
    // In virtual time all are in one process, and each sees it for itself.
    if (!run_.cluster.is_virtual()) run_.control.stop_all();
    return reason;
}

/// That comes from outside.
std::optional<Reason> TrainLoop::own_reason() {
    const bool time_is_up = limit_.is_up();
    if (stop_signal() != 0) return Reason::signal;
    if (time_is_up) return Reason::time;
    return std::nullopt;
}

/// Such a reason, unless it is too late for a checkpoint, ends the run where all are at a cut.
bool TrainLoop::leave_it_to_the_cut() {
    if (!cut_ || !cut_->possible()) return false;
    tell_of_reason();
    return true;
}

void TrainLoop::tell_of_reason() {
    if (!own_reason() || reason_told_) return;
    run_.control.tell(run_.first_worker());
    reason_told_ = true;
}

/// On the first worker, which alone does: so there is never more than one.
void TrainLoop::ask_for_checkpoint(std::int64_t steps, double seconds) {
    if (const double on_disk = checkpoints_.seconds_on_disk(); on_disk > 0)
        limit_.measured_checkpoint(checkpoint_seconds_ + on_disk);
    if (!cut_ || cut_->wanted() || !cut_->possible()) return;
    const bool due =
        checkpoint_timer_ && checkpoint_timer_->due(steps, plan_.epoch_before(steps), seconds);
    if (run_.control.told())
        cut_->want(true);
    else if (due)
        cut_->want(false);
}

/// Collective. False: the weights of a rank are not finite, and there is none.
bool TrainLoop::checkpoint() {
    const PhaseScope writes(run_.cluster.heartbeats(), Phase::writes);
    const Stopwatch watch;
    double unsound = is_finite(run_.model) ? 0 : 1;
    run_.cluster.sum(std::span(&unsound, 1));
    if (unsound > 0) return false;
    if (journal_ != nullptr) journal_->leave_if_taken(recorder_);  // OUT.ckpt goes with the name
    if (turns_) turns_->count_turns();
    checkpoints_.save(step_, [this](State& state) { visit(state); });
    run_.control.add_pause(watch.seconds());
    checkpoint_seconds_ = watch.seconds();
    if (journal_ != nullptr) journal_->say_checkpoint(step_, watch.seconds());
    watch_.lap();
    return true;
}

/// All that this rank is between two steps. Nobody is in a step.
void TrainLoop::visit(State& state) {
    state.value("step", step_);
    state.value("retired", retired_);
    double seconds = training_seconds();
    state.value("seconds", seconds);
    run_.control.visit(state);
    if (state.restores()) start_ = run_.cluster.seconds() - seconds - run_.control.paused_seconds();
    state.values("weights", run_.model.weights());
    state.values("running_statistics", run_.model.state());
    run_.model.visit(state);
    sgd_.visit(state);
    protocol_->visit(state);
    run_.cluster.visit(state);
    if (turns_) turns_->visit(state);
    straggler_.visit(state);
    recorder_.visit(state);
    evaluations_.visit(state);
    statistics_.visit(state);
    state.value("accuracy", accuracy_);
    if (state.restores()) check_restored();
}

/// What no run of ours would have written, though its items have the right names and sizes.
void TrainLoop::check_restored() const {
    constexpr std::int64_t most_steps = std::int64_t{1} << 40U;
    const auto check = [this](bool fine, std::string_view what) {
        REQUIRE(fine, "--resume {}: rank {} {}", run_.config.resume, run_.cluster.rank(), what);
    };
    check(step_ >= 0 && step_ <= most_steps, "is at no step that a run can have");
    check(all_finite(run_.model.weights()) && all_finite(run_.model.state()),
          "has weights that are not finite");
    check(recorder_.is_sound(), "has counts that no run can have");
    check(!retired_ || step_ >= last_step_,
          "had finished when the checkpoint was made; the run can't be made longer");
}

/// The gradient of one mini-batch.
Step TrainLoop::compute(std::int64_t step) {
    Step record;
    watch_.lap();
    sgd_.set_learning_rate(
        static_cast<float>(rate_scale_ * rate_.at(plan_.epoch_before(mean_step(step)))));
    const Score score = train_step(step, record);
    record.poll = poll_seconds_;
    record.compute = watch_.lap() - poll_seconds_;
    record.held_up = straggler_.delay(step, record.compute);
    if (record.held_up > 0) {
        run_.cluster.linger(record.held_up);
        record.compute += watch_.lap();
    }
    record.loss = static_cast<float>(score.loss());
    record.samples = score.images;
    return record;
}

Score TrainLoop::train_step(std::int64_t step, Step& record) {
    poll_seconds_ = 0;
    Score score{.loss_sum = 0, .correct = 0, .images = plan_.images(step)};
    if (!run_.has_gradients) {
        run_.cluster.compute(score.images, [] {});
        return score;
    }
    const ImageBatch batch =
        augmenter_.change(maker_.make(images_of(step)), plan_.epoch(step), plan_.batch(step));
    record.data = watch_.lap();
    const auto gradient = [&] { score = run_.model.train_step(batch); };
    if (run_.config.overlap && run_.cluster.is_virtual()) {
        gradient();  // calls other ranks
        run_.cluster.compute(score.images, [] {});
    } else {
        run_.cluster.compute(score.images, gradient);
    }
    return score;
}

/// How far the run is for a schedule of the learning rate: where weights are shared and workers are
/// at different steps, the steps of all that are in the weights, per worker.
std::int64_t TrainLoop::mean_step(std::int64_t step) const {
    const auto of_all = protocol_->gradients_so_far();
    return of_all ? std::min(*of_all / run_.team.workers, plan_.steps()) : step;
}

/// The gradient becomes everyone's weights.
void TrainLoop::exchange(Step& record) {
    const double paused_before = run_.control.paused_seconds();
    run_.cluster.heartbeats().enter(Phase::exchanges);
    Exchange& done = record.exchange;
    in_turn([&] {
        done = protocol_->exchange({run_.model.weights(), run_.model.gradients()}, record.loss);
    });
    const double paused = run_.control.paused_seconds() - paused_before;
    // What the protocol did neither with others nor for them is arithmetic.
    record.compute +=
        std::max(0.0, watch_.lap() - done.pull_seconds - done.push_seconds - done.wait_seconds);
    done.wait_seconds = std::max(0.0, done.wait_seconds - paused);
    done.bytes *= static_cast<std::int64_t>(run_.cluster.weights_per_float());
    record.end = training_seconds();
}

std::span<const std::uint32_t> TrainLoop::images_of(std::int64_t step) {
    const auto chosen = sampler_.batch(plan_.epoch(step), plan_.batch(step));
    if (run_.holdout.validation.empty()) return chosen;
    for (std::size_t i = 0; i < chosen.size(); ++i) images_[i] = run_.holdout.train[chosen[i]];
    return std::span(images_).first(chosen.size());
}

/// The loss tells of weights that are not finite one step late, and of a gradient that is not only
/// when the weights have it: so the gradient is looked at, too, but not in every step, since
/// reading all of it takes time.
std::optional<Ending> TrainLoop::diverged(std::int64_t step, float loss) {
    constexpr std::int64_t looks_every = 16;  // steps
    const bool too_high = !std::isfinite(loss) || static_cast<double>(loss) > run_.config.max_loss;
    const bool looks = step % looks_every == 0 || step + 1 == last_step_;
    if (!too_high && (!looks || all_finite(run_.model.gradients()))) return std::nullopt;
    Ending ending{Reason::diverged, step, loss};
    ending.suspect = find_suspect(run_.model, loss, run_.config.max_loss);
    return ending;
}

/// Of this rank, when a checkpoint was given up.
Ending TrainLoop::unsound_ending(std::int64_t step) {
    if (is_finite(run_.model)) return {Reason::told, step};
    Ending ending{Reason::diverged, step, static_cast<float>(recorder_.recent_loss())};
    ending.suspect = find_suspect(run_.model, 0, run_.config.max_loss);
    return ending;
}

/// Returns whether the run is to stop as its target is reached.
bool TrainLoop::evaluate() {
    const PhaseScope evaluates(run_.cluster.heartbeats(), Phase::evaluates);
    auto result = protocol_->result_so_far();
    std::ranges::swap_ranges(result, run_.model.weights());  // where it is none, nothing is swapped
    const auto row = evaluations_.take(row_now());
    std::ranges::swap_ranges(result, run_.model.weights());
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
    // Of shared weights the first worker's rows alone are the curve.
    row.samples = run_.facts.shares_weights && run_.is_first_worker()
                      ? run_.control.samples_of_all()
                      : recorder_.row().samples;
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
