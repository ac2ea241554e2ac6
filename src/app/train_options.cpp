#include "train_options.hpp"

#include <limits>

#include "base/error.hpp"
#include "base/spec.hpp"
#include "cluster_choice.hpp"
#include "protocols/learning_rate.hpp"
#include "protocols/protocol.hpp"
#include "straggler.hpp"
#include "time_limit.hpp"

namespace wasp {

namespace {

constexpr NumberRange fraction{0, 1};
constexpr NumberRange positive{0, NumberRange::unlimited, true};
constexpr WholeRange natural{1};

std::int64_t parse_shard_bytes(std::string_view text) {
    constexpr std::int64_t most = std::int64_t{1} << 40U;
    if (text == "auto") return 0;
    const auto bytes = parse_whole(text);
    REQUIRE(bytes && *bytes >= 1 && *bytes <= most,
            "'{}' must be auto, or a whole number from 1 to {}", text, most);
    return *bytes;
}

/// Text that must make sense to `verify`, which throws otherwise.
void checked_text(OptionTable& table, std::string_view name, std::string& value,
                  std::string_view meta, void (*verify)(std::string_view), std::string_view help) {
    table.parsed(
        name, meta,
        [&value, verify](std::string_view text) {
            REQUIRE(!text.empty(), "must not be empty");
            verify(text);
            value = text;
        },
        [&value] { return value; }, help);
}

void add_what(OptionTable& table, TrainConfig& config) {
    table.heading("What is trained");
    table.text("data", config.data, "FILE", "images and labels: an HDF5 file (see `wasp data`)");
    table.required();
    checked_text(table, "model", config.model, "NAME", check_model_name, "see `wasp help models`");
    checked_text(
        table, "protocol", config.protocol, "SPEC",
        [](std::string_view text) { static_cast<void>(protocol_facts(text)); },
        "NAME or NAME:KEY=VALUE,…; see `wasp help protocols`");
    table.text("init", config.init, "FILE", "start from the weights of this model file");
    table.choice<Initialisation>(
        "initialisation", config.initialisation,
        {{"pytorch", Initialisation::pytorch}, {"he", Initialisation::he}},
        "random weights at the start: as torch.nn draws them, or as He et al. 2015");
    table.whole("seed", config.seed, {0}, "every random stream derives from it");
}

void add_length(OptionTable& table, TrainConfig& config) {
    table.heading("How long (one of them)");
    table.whole("epochs", config.epochs, natural, "passes of each worker over its shard");
    table.whole("updates", config.updates, natural, "gradients of all workers together");
    table.whole("samples", config.samples, natural, "images of all workers together");
    table.alternatives({"epochs", "updates", "samples"});
    table.number("max-loss", config.max_loss, {0, std::numeric_limits<double>::infinity(), true},
                 "a mini-batch loss above it counts as divergence (exit code 3)");
}

void add_method(OptionTable& table, TrainConfig& config) {
    table.heading("Method");
    table.whole("batch", config.batch, {1, 1 << 20}, "images of a mini-batch, per worker");
    table.number("lr", config.learning_rate, {0}, "learning rate");
    checked_text(
        table, "lr-schedule", config.schedule, "SPEC",
        [](std::string_view text) { static_cast<void>(LearningRate(text, 1, 0, 1)); },
        "constant, step:every=E,factor=F, cosine[:floor=X] or poly[:power=P]");
    table.choice<RateScale>("lr-scale", config.rate_scale,
                            {{"none", RateScale::none},
                             {"mean", RateScale::mean},
                             {"sqrt", RateScale::sqrt},
                             {"linear", RateScale::linear}},
                            "times 1, 1/P, √P or P, P workers");
    table.number("warmup", config.warmup, {0},
                 "epochs in which the learning rate rises from a tenth");
    table.number("momentum", config.momentum, {0, 0.9999}, "0: none");
    table.choice<MomentumAt>("momentum-at", config.momentum_at,
                             {{"worker", MomentumAt::worker}, {"server", MomentumAt::server}},
                             "a velocity for each worker, or one for the shared weights");
    table.flag("nesterov", config.nesterov, "Nesterov's momentum");
    table.number("weight-decay", config.weight_decay, {0}, "added to the gradient, times weights");
    table.choice<Order>("order", config.order,
                        {{"shuffle", Order::shuffle}, {"sequential", Order::sequential}},
                        "of the images: anew every epoch, or as in the file");
    table.choice<Augmentation>(
        "augment", config.augmentation,
        {{"none", Augmentation::none}, {"crop-flip", Augmentation::crop_flip}},
        "training images as they are, or shifted by up to 4 pixels and mirrored at random");
    table.choice<Shards>("shards", config.shards,
                         {{"disjoint", Shards::disjoint}, {"full", Shards::full}},
                         "each worker its part, or everything; as the protocol says if not given");
    table.choice<NormPolicy>("bn-stats", config.norm,
                             {{"average", NormPolicy::average},
                              {"local", NormPolicy::local},
                              {"reestimate", NormPolicy::reestimate}},
                             "running statistics that evaluation uses: the workers' mean, one "
                             "worker's own, or anew from training images; if not given average, or "
                             "local where each worker trains its own model");
    table.whole("validation", config.validation, {0},
                "training images held out; if not given 0, or 1/20 of them where each worker "
                "trains its own model");
}

void add_evaluation(OptionTable& table, TrainConfig& config) {
    table.heading("Evaluation");
    table.choice<Evaluation>(
        "eval", config.evaluation,
        {{"deferred", Evaluation::deferred},
         {"inline", Evaluation::inplace},
         {"none", Evaluation::none}},
        "after training on copies of the weights, at once while everyone pauses, or never");
    table.parsed(
        "eval-every", "N[epochs|updates|seconds]",
        [&config](std::string_view text) { config.eval_every = parse_interval(text); },
        [&config] { return to_text(config.eval_every); }, "distance between evaluations");
    table.number("target-accuracy", config.target_accuracy, fraction,
                 "report when the test accuracy first reached it");
    table.flag("stop-at-target", config.stop_at_target, "and stop there (needs --eval inline)");
}

void add_results(OptionTable& table, TrainConfig& config) {
    table.heading("Results");
    table.text("out", config.out, "FILE", "results, an HDF5 file; an existing one is refused");
    table.required();
    table.flag("unique", config.unique, "number the name of --out if it is taken");
    table.text("save-model", config.save_model, "FILE", "the trained weights, an HDF5 file");
    table.whole("record-every", config.record_every, natural,
                "steps between two rows of /steps; if not given, so that there are at most 10000");
    table.choice<std::string>("progress", config.progress,
                              {{"auto", "auto"}, {"plain", "plain"}, {"none", "none"}},
                              "one line that updates, one line every 10 s, or nothing");
}

void add_checkpoints(OptionTable& table, TrainConfig& config) {
    table.heading("Checkpoints");
    table.parsed(
        "checkpoint-every", "N[epochs|updates|seconds|min|h]",
        [&config](std::string_view text) { config.checkpoint_every = parse_interval(text); },
        [&config] { return config.checkpoint_every ? to_text(*config.checkpoint_every) : ""; },
        "write one into OUT.ckpt/; a run that is stopped writes one in any case");
    table.whole("keep-checkpoints", config.keep_checkpoints, {1, 1'000'000},
                "the latest of a run: so many");
    checked_text(table, "max-time", config.max_time, "HH:MM:SS|Nmin|auto", check_time_limit,
                 "stop with a checkpoint (exit code 75) before this time is over; auto: what Slurm "
                 "leaves to the job");
    table.text(
        "resume", config.resume, "auto|FILE",
        "go on from a checkpoint; auto: the newest sound one of this --out, if there is one");
}

void add_experiment(OptionTable& table, TrainConfig& config) {
    table.heading("Experiments");
    checked_text(
        table, "straggler", config.straggler, "SPEC",
        [](std::string_view text) {
            static_cast<void>(Straggler(std::string(text), {}, std::numeric_limits<int>::max()));
        },
        "slow down rank=R,slow=F[,from=STEP], node=N,slow=F[,from=STEP] or "
        "random,probability=P,slow=F[,seed=S]");
    table.text("record-schedule", config.record_schedule, "FILE",
               "write the order in which workers pushed and pulled; they take turns for it");
    table.text("replay", config.replay, "FILE",
               "push and pull in this order again: the same run to the bit");
}

void add_machine(OptionTable& table, TrainConfig& config) {
    table.heading("Machine");
    checked_text(
        table, "cluster", config.cluster, "mpi|threads:N|sim:PLATFORM,ranks=N",
        [](std::string_view text) { static_cast<void>(parse_cluster(text)); },
        "ranks are MPI processes, N threads of this one, or in virtual time those of a modelled "
        "machine: tianhe2, xeon-ib or ethernet");
    table.whole("threads", config.threads, {1, 4096},
                "of each rank; if not given, its share of the node's cores. In virtual time: that "
                "compute for ranks, 1 if not given");
    table.text("simd", config.simd, "SET", "avx, avx2 or avx512; the machine's best if not given");
    table.choice<Precision>("precision", config.precision,
                            {{"float32", Precision::float32}, {"bf16", Precision::bf16}},
                            "of the ResNets' activations; weights and sums are always float32");
    table.choice<ConvolutionAlgorithm>(
        "convolutions", config.convolutions,
        {{"measured", ConvolutionAlgorithm::measured},
         {"direct", ConvolutionAlgorithm::direct},
         {"winograd", ConvolutionAlgorithm::winograd}},
        "of the ResNets: the fastest algorithm, measured at the start, or always this one");
    table.choice<bool>("overlap", config.overlap, {{"on", true}, {"off", false}},
                       "gradients leave layer by layer, while those of the layers below are still "
                       "computed");
    add_shard_bytes(table, config.shard_bytes);
    checked_text(
        table, "compress", config.compress, "none|fp16|bf16|topk:RATIO",
        [](std::string_view text) { static_cast<void>(parse_compression(text)); },
        "what workers push: as it is, rounded to 16 bits, or the largest of each 4096 weights; "
        "the rest is added to the next push");
    table.number("stall-timeout", config.stall_timeout, positive,
                 "seconds after which waiting for another rank fails");
}

}  // namespace

void add_shard_bytes(OptionTable& table, std::int64_t& bytes) {
    table.parsed(
        "shard-bytes", "auto|BYTES",
        [&bytes](std::string_view text) { bytes = parse_shard_bytes(text); },
        [&bytes] { return bytes == 0 ? "auto" : std::to_string(bytes); },
        "the shared weights lie in pieces of so many bytes, dealt to the ranks in turn; auto: one "
        "for each rank, of 16 KiB at least");
}

OptionTable train_options(TrainConfig& config) {
    OptionTable table;
    add_what(table, config);
    add_length(table, config);
    add_method(table, config);
    add_evaluation(table, config);
    add_results(table, config);
    add_checkpoints(table, config);
    add_experiment(table, config);
    add_machine(table, config);
    return table;
}

}  // namespace wasp
