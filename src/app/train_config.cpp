#include "app/train_config.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "base/error.hpp"
#include "base/spec.hpp"
#include "cluster_choice.hpp"
#include "out_folder.hpp"
#include "protocols/learning_rate.hpp"
#include "protocols/protocol.hpp"
#include "straggler.hpp"

namespace wasp {

namespace {

struct UnitName {
    std::string_view name;
    Interval::Unit unit;
    double times = 1;
};
constexpr std::array unit_names{
    UnitName{"epochs", Interval::Unit::epochs}, UnitName{"updates", Interval::Unit::updates},
    UnitName{"seconds", Interval::Unit::seconds}, UnitName{"min", Interval::Unit::seconds, 60},
    UnitName{"h", Interval::Unit::seconds, 3600}};

void check_length(const TrainConfig& config) {
    const int given = static_cast<int>(config.epochs.has_value()) +
                      static_cast<int>(config.updates.has_value()) +
                      static_cast<int>(config.samples.has_value());
    REQUIRE(given > 0, "how long? give --epochs, --updates or --samples");
    REQUIRE(given == 1, "--epochs, --updates and --samples contradict each other: give one");
}

void check_method(const TrainConfig& config, const ProtocolFacts& facts) {
    REQUIRE(!config.nesterov || config.momentum > 0, "--nesterov needs --momentum above 0");
    REQUIRE(config.init.empty() || !facts.own_initialisation,
            "--init gives every worker the same weights, but --protocol {} wants different ones",
            config.protocol);
    REQUIRE(facts.shares_weights || config.validation != 0,
            "--validation 0: {} chooses among the workers' models by validation loss; hold out "
            "some images",
            facts.name);
}

void check_experiment(const TrainConfig& config, const ProtocolFacts& facts) {
    REQUIRE(config.momentum_at == MomentumAt::worker || facts.server_momentum,
            "--momentum-at server: {} has no server; each worker keeps its own momentum",
            facts.name);
    REQUIRE(config.shard_bytes == 0 || facts.has_store,
            "--shard-bytes: {} keeps no weights in a store; leave it out", facts.name);
    const bool compresses = parse_compression(config.compress).kind != Compression::Kind::none;
    REQUIRE(!compresses || facts.compresses,
            "--compress {}: {} pushes no updates that are added as they come; use none, or asp, "
            "ssp, consgd, dynsgd, downpour or wasp",
            config.compress, facts.name);
    REQUIRE(!compresses || config.momentum_at == MomentumAt::worker,
            "--compress {}: the server's momentum takes whole updates; use --momentum-at worker",
            config.compress);
    REQUIRE(!config.overlap || facts.overlaps,
            "--overlap on: {} needs the whole gradient at once; use --overlap off", facts.name);
    REQUIRE(!config.overlap || (config.record_schedule.empty() && config.replay.empty()),
            "--overlap on: gradients that leave layer by layer wait for no turn; use --overlap off "
            "with --record-schedule and --replay");
    REQUIRE(config.record_schedule.empty() || config.replay.empty(),
            "--record-schedule and --replay contradict each other: give one");
    REQUIRE(config.replay.empty() || !config.checkpoint_every,
            "--checkpoint-every doesn't go with --replay, where workers stop only where the "
            "schedule lets them: leave it out");
    // A job script gives --resume auto whatever the protocol: there is nothing to go on from.
    const bool resumes_from_a_file = !config.resume.empty() && config.resume != "auto";
    REQUIRE(facts.can_pause || (!config.checkpoint_every && !resumes_from_a_file),
            "--protocol {} has no checkpoints: its groups never stand between the same two steps; "
            "leave out --checkpoint-every and --resume",
            config.protocol);
    REQUIRE(config.resume.empty() || !config.unique,
            "--resume goes on with the results of --out: leave out --unique");
    static_cast<void>(Straggler(config.straggler, {}, std::numeric_limits<int>::max()));
}

/// What a run in virtual time can do without.
void check_virtual_time(const TrainConfig& config) {
    const auto choice = parse_cluster(config.cluster);
    if (!choice.sim) return;
    const auto refuse = [](bool given, std::string_view option, std::string_view why) {
        REQUIRE(!given, "{} doesn't go with --cluster sim:…, where {}: leave it out", option, why);
    };
    constexpr std::string_view repeats = "the same run can be had again, to the bit";
    refuse(config.overlap, "--overlap on", "a gradient is there all at once");
    refuse(config.compress != "none", "--compress", "messages are modelled as uncompressed");
    refuse(config.checkpoint_every.has_value(), "--checkpoint-every", repeats);
    refuse(!config.resume.empty() && config.resume != "auto", "--resume", repeats);
    refuse(!config.record_schedule.empty(), "--record-schedule", repeats);
    refuse(!config.replay.empty(), "--replay", repeats);
    if (choice.sim->gradients) return;
    constexpr std::string_view nothing_is_learnt = "gradients=none learns nothing";
    refuse(!config.save_model.empty(), "--save-model", nothing_is_learnt);
    refuse(!config.init.empty(), "--init", nothing_is_learnt);
    refuse(config.target_accuracy.has_value(), "--target-accuracy", nothing_is_learnt);
}

void check_evaluation(const TrainConfig& config) {
    REQUIRE(!config.target_accuracy || config.evaluation != Evaluation::none,
            "--target-accuracy can't be watched with --eval none");
    REQUIRE(!config.stop_at_target || config.target_accuracy,
            "--stop-at-target needs --target-accuracy");
    REQUIRE(!config.stop_at_target || config.evaluation == Evaluation::inplace,
            "--stop-at-target needs --eval inline: others know the accuracy after training only");
}

}  // namespace

Interval parse_interval(std::string_view text) {
    const auto digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto count = parse_number(text.substr(0, digits));
    const auto unit = text.substr(digits);
    REQUIRE(count && *count > 0,
            "'{}' must be N, Nepochs, Nupdates, Nseconds, Nmin or Nh with N above 0", text);
    if (unit.empty()) return {*count, Interval::Unit::epochs};
    for (const auto& known : unit_names)
        if (unit == known.name || fmt::format("{}s", unit) == known.name)
            return {*count * known.times, known.unit};
    throw Error(ExitCode::usage,
                fmt::format("'{}': the unit must be epochs, updates, seconds, min or h", text));
}

std::string to_text(const Interval& interval) {
    return fmt::format("{}{}", interval.count,
                       unit_names.at(static_cast<std::size_t>(interval.unit)).name);
}

void check(const TrainConfig& config) {
    check_length(config);
    check_model_name(config.model);
    const auto facts = protocol_facts(config.protocol);
    const auto known_schedule =
        LearningRate(config.schedule, config.learning_rate, config.warmup, 1);
    static_cast<void>(known_schedule);
    check_method(config, facts);
    check_experiment(config, facts);
    check_evaluation(config);
    check_differ({{"--out", config.out},
                  {"--save-model", config.save_model},
                  {"--record-schedule", config.record_schedule}});
    check_virtual_time(config);
}

}  // namespace wasp
