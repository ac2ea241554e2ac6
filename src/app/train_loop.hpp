/// The training loop: the only place where model, data, protocol and results meet.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "checkpoints.hpp"
#include "cluster/laps.hpp"
#include "cut.hpp"
#include "divergence.hpp"
#include "evaluations.hpp"
#include "journal.hpp"
#include "plan.hpp"
#include "protocols/learning_rate.hpp"
#include "protocols/sgd.hpp"
#include "protocols/turns.hpp"
#include "recorder.hpp"
#include "run.hpp"
#include "schedule_file.hpp"
#include "straggler.hpp"
#include "time_limit.hpp"

namespace wasp {

/// Why a rank left the loop.
enum class Reason {
    finished,
    told,  ///< by another rank that had one of the reasons below
    target,
    time,  ///< --max-time
    signal,
    diverged
};

struct Ending {
    Reason reason = Reason::finished;
    std::int64_t step = 0;
    float loss = 0;        ///< of that step's mini-batch
    Suspect suspect = {};  ///< where it diverged
    double seconds = 0;    ///< of training, until no rank waited for this one any more
};

class TrainLoop {
public:
    /// Collective. journal: on the first worker's rank; elsewhere null. replay: null for none.
    /// Goes on from where `checkpoints` resumes.
    TrainLoop(Run& run, Evaluations& evaluations, NormStatistics& statistics,
              Checkpoints& checkpoints, TimeLimit& limit, Journal* journal, RankRow place,
              const Schedule* replay);

    /// Collective: workers train, servers serve. On return run.model holds this rank's result.
    Ending run();

    /// The curve's row of the model as it is now, but for test loss and accuracy.
    CurveRow row_now();

    const Recorder& recorder() const { return recorder_; }

    /// Collective, after run(). On rank `root`: whose turn it was, with --record-schedule.
    Schedule schedule(int root);

private:
    void serve_between_layers();
    Ending train();
    template <class Work>
    void in_turn(Work work);
    std::int64_t mean_step(std::int64_t step) const;
    std::optional<Reason> reason_to_stop();
    Step compute(std::int64_t step);
    Score train_step(std::int64_t step, Step& record);
    void exchange(Step& record);
    std::optional<Ending> diverged(std::int64_t step, float loss);
    Ending unsound_ending(std::int64_t step);
    bool evaluate();
    bool retire(Reason reason);
    void attend_cuts(Ending& ending);
    void tell_of_reason();
    void visit(State& state);
    void check_restored() const;
    bool checkpoint();
    std::optional<Reason> own_reason();
    void ask_for_checkpoint(std::int64_t steps, double seconds);
    bool leave_it_to_the_cut();
    std::span<const std::uint32_t> images_of(std::int64_t step);
    double training_seconds();
    ProgressState state(std::int64_t steps);

    Run& run_;
    Evaluations& evaluations_;
    NormStatistics& statistics_;
    Checkpoints& checkpoints_;
    TimeLimit& limit_;
    Journal* journal_;
    Sampler sampler_;
    Plan plan_;
    Recorder recorder_;
    BatchMaker maker_;
    Augmenter augmenter_;
    LearningRate rate_;
    double rate_scale_;
    Straggler straggler_;
    std::int64_t last_step_;  // that this run makes, and one more
    Sgd sgd_;
    std::optional<TurnTakingCluster> turns_;
    std::unique_ptr<Protocol> protocol_;
    std::optional<Cut> cut_;  // not where workers take turns
    std::optional<IntervalTimer> checkpoint_timer_;
    std::int64_t step_ = 0;              // that this worker makes next
    std::vector<std::uint32_t> images_;  // of the batch, where some are held out
    Laps watch_;
    double start_ = 0;               // on the cluster's clock
    double poll_seconds_ = 0;        // in the present step
    double accuracy_ = -1;           // at the last evaluation
    double checkpoint_seconds_ = 0;  // that all ranks stood still for the last one
    bool retired_ = false;           // no step of mine is waited for any more
    bool reason_told_ = false;
};

}  // namespace wasp
