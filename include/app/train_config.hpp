/// Everything a training run is told, with the defaults. docs/INTERFACE.md says what each is.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "data/augmentation.hpp"
#include "data/sampler.hpp"
#include "nn/model.hpp"

namespace wasp {

/// How far apart evaluations or checkpoints are.
struct Interval {
    enum class Unit { epochs, updates, seconds };
    double count = 1;
    Unit unit = Unit::epochs;
};

/// "2", "2epochs", "500updates", "1.5seconds", "10min", "1h".   Error: anything else.
Interval parse_interval(std::string_view text);
std::string to_text(const Interval& interval);

enum class Evaluation {
    deferred,  ///< after training, on copies of the weights taken on the way
    inplace,   ///< at once, while everyone pauses: --eval inline
    none
};

/// What the learning rate is multiplied with: 1, 1/P, √P or P.
enum class RateScale { none, mean, sqrt, linear };

enum class MomentumAt { worker, server };

/// What is evaluated and saved as running statistics of batch normalisation. --bn-stats
enum class NormPolicy {
    average,    ///< the mean of all workers'
    local,      ///< those of the worker whose weights are evaluated
    reestimate  ///< estimated anew from training images, with the weights that are evaluated
};

struct TrainConfig {
    std::string data, model = "lenet5", protocol = "wasp";
    std::string init, save_model;  ///< model files; empty: none

    std::optional<std::int64_t> epochs, updates, samples;  ///< one of them; updates and samples
                                                           ///< are those of all workers together
    std::int64_t batch = 64;                               ///< images per worker
    double learning_rate = 0.01, warmup = 0;               ///< warmup: epochs
    std::string schedule = "constant";
    std::string compress = "none";  ///< what is pushed; see parse_compression()
    std::int64_t shard_bytes = 0;   ///< of the shared weights; 0: auto
    RateScale rate_scale = RateScale::none;
    double momentum = 0.9, weight_decay = 0;
    MomentumAt momentum_at = MomentumAt::worker;
    bool overlap = false;  ///< gradients leave layer by layer
    bool nesterov = false;
    std::int64_t seed = 1;
    Initialisation initialisation = Initialisation::pytorch;
    Order order = Order::shuffle;
    Augmentation augmentation = Augmentation::none;
    std::optional<Shards> shards;            ///< empty: as the protocol says
    std::optional<std::int64_t> validation;  ///< training images held out; empty: by the protocol
    std::optional<NormPolicy> norm;          ///< empty: average, or local for own weights
    double max_loss = std::numeric_limits<double>::infinity();

    Evaluation evaluation = Evaluation::deferred;
    Interval eval_every;
    std::optional<double> target_accuracy;  ///< 0…1
    bool stop_at_target = false;

    std::string out;
    bool unique = false;
    std::optional<std::int64_t> record_every;  ///< steps; empty: chosen from the run's length
    std::string progress = "auto";
    std::string straggler;                ///< who is slowed down on purpose; empty: nobody
    std::string record_schedule, replay;  ///< files with the order of events; empty: none

    std::optional<Interval> checkpoint_every;  ///< empty: when the run is stopped only
    std::int64_t keep_checkpoints = 2;
    std::string max_time;  ///< a duration, or "auto": as Slurm says; empty: none
    std::string resume;    ///< a checkpoint, or "auto": the newest of this --out; empty: start anew

    std::string cluster = "mpi";  ///< or "threads:N", or "sim:PLATFORM,ranks=N"
    std::string simd;             ///< instruction set of our own kernels; empty: the machine's best
    Precision precision = Precision::float32;
    ConvolutionAlgorithm convolutions = ConvolutionAlgorithm::measured;
    std::optional<std::int64_t> threads;  ///< of each rank; empty: its share of the node's cores
    double stall_timeout = 120;           ///< seconds
};

/// Error: options that contradict each other, unknown names, malformed specs; before any file is
/// read or any rank started.
void check(const TrainConfig& config);

}  // namespace wasp
