#include "train.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/failure.hpp"
#include "base/random.hpp"
#include "base/stopwatch.hpp"
#include "checkpoints.hpp"
#include "cluster_choice.hpp"
#include "core_share.hpp"
#include "evaluations.hpp"
#include "final_models.hpp"
#include "h5/atomic_file.hpp"
#include "journal.hpp"
#include "memory.hpp"
#include "model_io.hpp"
#include "norm_statistics.hpp"
#include "out_folder.hpp"
#include "plan.hpp"
#include "rank_rows.hpp"
#include "report/provenance.hpp"
#include "report/summary.hpp"
#include "run.hpp"
#include "schedule_file.hpp"
#include "signals.hpp"
#include "stand_in.hpp"
#include "tensor/kernels.hpp"
#include "tensor/vector_ops.hpp"
#include "train_loop.hpp"
#include "train_options.hpp"
#include "verdict.hpp"

namespace wasp {

namespace {

/// What can be found wrong in no time. By one rank.
void check_files(const TrainConfig& config) {
    if (config.resume.empty() && !config.unique) {
        check_can_create(config.out, "--out");
        check_no_checkpoints(config);
    }
    if (!config.save_model.empty()) {
        check_folder(config.save_model, "--save-model");
        if (config.resume.empty() && !config.unique)
            check_can_create(config.save_model, "--save-model");
    }
    if (!config.record_schedule.empty()) {
        check_folder(config.record_schedule, "--record-schedule");
        if (config.resume.empty()) check_can_create(config.record_schedule, "--record-schedule");
    }
}

std::int64_t choose_threads(Cluster& cluster, const CoreShare& share,
                            std::optional<std::int64_t> given) {
    collectively(cluster, [&] {
        const Place& place = cluster.place();
        REQUIRE(!is_single_core(share, place.ranks_on_node), "{}",
                single_core(share, place.ranks_on_node, place.host));
        REQUIRE(given.value_or(1) <= share.cores, "--threads {}: rank {} may use {} core(s) of {}",
                *given, cluster.rank(), share.cores, cluster.place().host);
    });
    return given.value_or(share.threads());
}

bool has_gradients(const TrainConfig& config) {
    const auto choice = parse_cluster(config.cluster);
    return !choice.sim || choice.sim->gradients;
}

/// Choose what was left to the program.
Holdout complete(TrainConfig& config, const ProtocolFacts& facts, const Team& team,
                 const Dataset& dataset) {
    REQUIRE(dataset.classes >= 2, "'{}' has images of one class only: nothing can be told apart",
            config.data);
    REQUIRE(config.evaluation == Evaluation::none || dataset.test.size() > 0,
            "'{}' has no test images: use --eval none", config.data);
    constexpr std::size_t part = 20;
    const auto images = dataset.train.size();
    if (!has_gradients(config)) config.evaluation = Evaluation::none;
    if (!config.shards) config.shards = facts.full_shards ? Shards::full : Shards::disjoint;
    if (!config.norm) config.norm = facts.shares_weights ? NormPolicy::average : NormPolicy::local;
    if (!config.validation)
        config.validation = facts.shares_weights ? 0 : static_cast<std::int64_t>(images / part);
    auto holdout = hold_out(images, static_cast<std::size_t>(*config.validation),
                            static_cast<std::uint64_t>(config.seed));
    const Sampler longest(sampler_setup(config, facts, holdout, 0, team.workers));
    if (!config.record_every)
        config.record_every = default_record_every(Plan(config, longest, team.workers).steps());
    return holdout;
}

/// Of the models that are trained, mine: each worker's, or each group's.
int model_number(const ProtocolFacts& facts, const Team& team) {
    const int worker = team.worker.value_or(0);
    return facts.groups > 0 ? worker / (team.workers / facts.groups) : worker;
}

std::unique_ptr<Model> initial_model(Cluster& cluster, const TrainConfig& config,
                                     const ProtocolFacts& facts, const Team& team,
                                     const Dataset& dataset) {
    ModelSetup setup;
    setup.image = dataset.shape;
    setup.classes = dataset.classes;
    setup.largest_batch = static_cast<int>(evaluation_batch(config));
    setup.seed = static_cast<std::uint64_t>(config.seed);
    if (facts.own_initialisation)
        setup.seed = RandomStream(setup.seed, "initial model", model_number(facts, team))();
    setup.simd = config.simd;
    setup.precision = config.precision;
    setup.convolutions = config.convolutions;
    setup.initialisation = config.initialisation;
    if (!has_gradients(config)) {
        const std::size_t weights = count_weights(config.model, setup);
        const std::size_t each = cluster.weights_per_float();
        return std::make_unique<StandIn>(config.model, (weights + each - 1) / each, setup);
    }
    std::size_t bytes = 0;
    collectively(cluster, [&] { bytes = estimate_memory(config, setup, facts); });
    check_memory(cluster, config, bytes);
    std::unique_ptr<Model> model;
    collectively(cluster, [&] {
        model = make_model(config.model, setup);
        if (!config.init.empty() && cluster.rank() == 0)
            set_weights(*model, read_model_file(config.init), config.init);
    });
    if (!config.init.empty())
        for (const auto part : {model->weights(), model->state()})
            cluster.broadcast(std::as_writable_bytes(part), 0);
    return model;
}

/// Collective.
std::filesystem::path agree_on_checkpoint(Cluster& cluster, const TrainConfig& config,
                                          const Dataset& dataset) {
    std::string path;
    collectively(cluster, [&] {
        if (cluster.rank() == 0) path = find_checkpoint(config, dataset, cluster.size()).string();
    });
    broadcast_list(cluster, path, 0);
    return path;
}

RankRow place_of(const Run& run) {
    RankRow row;
    row.host = run.cluster.place().host;
    row.node = run.cluster.place().node;
    if (!run.cluster.is_virtual()) {
        row.socket = bound_socket();
        row.cpus = bound_cpus();
    }
    row.threads = static_cast<int>(*run.config.threads);
    return row;
}

/// The line of `text` that `place` is in.
std::string line_around(const std::string& text, std::string::const_iterator place) {
    const auto at = std::min(static_cast<std::size_t>(place - text.begin()), text.size() - 1);
    const auto before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    const auto begin = before == std::string::npos ? 0 : before + 1;
    return text.substr(begin, text.find('\n', at) - begin);
}

/// Every option with the value used, and what makes the same run again.
Attributes describe(TrainConfig config, std::string_view command_line) {
    const auto table = train_options(config);
    Attributes attributes = table.values();
    attributes["toml"] = table.toml();
    attributes["command_line"] = std::string(command_line);
    return attributes;
}

/// Collective.   Error: two ranks were given different options, which names one of them.
void check_same_options(Cluster& cluster, const TrainConfig& given) {
    TrainConfig config = given;
    config.threads.reset();  // nodes may differ
    const std::string mine = train_options(config).toml();
    const auto texts = cluster.gather(std::as_bytes(std::span(mine)), 0);
    collectively(cluster, [&] {
        for (std::size_t rank = 1; rank < texts.size(); ++rank) {
            const std::string theirs(reinterpret_cast<const char*>(texts[rank].data()),
                                     texts[rank].size());
            const auto [here, there] = std::ranges::mismatch(mine, theirs);
            if (here == mine.end() && there == theirs.end()) continue;
            REQUIRE(false, "all ranks need the same options: rank 0 has '{}', rank {} has '{}'",
                    line_around(mine, here), rank, line_around(theirs, there));
        }
    });
}

/// On the rank that speaks for the first worker's, which does not get on any more.
bool stands_in_for_the_writer(const Run& run) {
    const double limit = run.config.stall_timeout;
    const Heartbeats& heartbeats = run.cluster.heartbeats();
    if (!heartbeats.is_lost(run.first_worker(), limit)) return false;
    for (int rank = 0; rank < run.cluster.rank(); ++rank)
        if (!heartbeats.is_lost(rank, limit)) return false;
    return true;
}

/// Collective. On the first worker's rank: the journal, with what is known before the first step.
/// file: becomes the name of the results, everywhere.
std::unique_ptr<Journal> open_journal(const Run& run, const RankRow& place,
                                      std::string_view command_line,
                                      const std::filesystem::path& resumes_from,
                                      std::string& file) {
    RunFacts facts;
    facts.cluster = run.cluster.description();
    facts.kernels = kernels().name;
    facts.dataset = run.config.data;
    facts.dataset_sha256 = run.dataset.sha256;
    facts.seed = run.config.seed;
    facts.ranks = gather_rows(run.cluster, place, run.first_worker());
    std::unique_ptr<Journal> journal;
    collectively(run.cluster, [&] {
        if (!run.is_first_worker()) return;
        journal = std::make_unique<Journal>(run.config);
        Results& results = journal->results();
        results.config = describe(run.config, command_line);
        results.provenance = provenance(facts);
        journal->introduce(facts.ranks, run.cluster.rank());
        results.record_every = *run.config.record_every;
        if (resumes_from.empty()) journal->write("running");
        const auto idle = run.team.workers - run.images_per_epoch();
        if (idle > 0)
            journal->note(
                fmt::format("{} of {} workers have no images to train on", idle, run.team.workers));
        file = journal->path().string();
    });
    broadcast_list(run.cluster, file, run.first_worker());
    return journal;
}

/// Under the next free name: the one that was asked for may be taken by now, or with --unique. A
/// run that goes on replaces what it left when it was stopped.
void save_model(const Run& run, Journal& journal) {
    const auto& wanted = run.config.save_model;
    if (!run.config.resume.empty()) {  // a stopped run may have left one
        h5::remove_unfinished(wanted);
        return write_model_file(wanted, as_file(run.model, run.dataset));
    }
    const auto saved = create_model_file(wanted, as_file(run.model, run.dataset)).string();
    if (saved != wanted) journal.note(fmt::format("{} is taken: the model is {}", wanted, saved));
}

/// Whether the newest checkpoint is on disk: what the run has learnt is kept in any case.
Verdict::Checkpoint await_checkpoint(Checkpoints& checkpoints) {
    try {
        return checkpoints.finish().empty() ? Verdict::Checkpoint::none
                                            : Verdict::Checkpoint::written;
    } catch (const std::exception& error) {
        fmt::print(stderr, "wasp: warning: no checkpoint: {}\n", error.what());
        return Verdict::Checkpoint::failed;
    }
}

/// Collective. Train, evaluate what was put off, and write everything.
Verdict train_and_report(Run& run, TimeLimit& limit, const RankRow& place, Journal* journal,
                         const Schedule* replay, const std::filesystem::path& resumes_from) {
    NormStatistics statistics(run);
    Evaluations evaluations(run, statistics);
    Checkpoints checkpoints(
        run, journal == nullptr ? std::filesystem::path(run.config.out) : journal->path(),
        resumes_from);
    TrainLoop loop(run, evaluations, statistics, checkpoints, limit, journal, place, replay);
    const Ending ending = loop.run();
    run.cluster.heartbeats().enter(Phase::evaluates);
    std::optional<Schedule> schedule;
    if (!run.config.record_schedule.empty()) schedule = loop.schedule(run.first_worker());
    Verdict verdict = judge(run, ending);
    auto rows = gather_rows(run.cluster, loop.recorder().row(), run.first_worker());
    // A run is finished when all that it was to write is there: until then it can be resumed.
    const bool more_follows = verdict.status() == "finished" && run.has_gradients;
    const std::string_view so_far = more_follows ? "running" : verdict.status();
    const auto write = [&](Attributes summary, std::string_view status) {
        Results& results = journal->results();
        summary.merge(
            as_attributes(summarise(results, verdict.seconds, run.config.target_accuracy)));
        if (const auto push = parse_compression(run.config.compress);
            push.kind != Compression::Kind::none)
            summary["compression_ratio"] = 1 / push.share(run.model.weights().size());
        results.summary = std::move(summary);
        journal->write(status);
    };
    collectively(run.cluster, [&] {  // at once: evaluation may be cut short by the wall time
        if (journal == nullptr) return;
        const PhaseScope writes(run.cluster.heartbeats(), Phase::writes);
        journal->results().ranks = std::move(rows);
        write({}, so_far);
        verdict.checkpoint = await_checkpoint(checkpoints);
    });
    // There is no time left, and the checkpoint has the copies that are to be evaluated.
    if (verdict.reason == Reason::time || !run.has_gradients) {
        if (journal != nullptr) journal->print_end();
        return verdict;
    }

    const Stopwatch watch;
    std::optional<CurveRow> last;
    FinalModels models;
    if (verdict.reason != Reason::diverged) {
        last = loop.row_now();
        last->seconds = run.facts.shares_weights ? verdict.seconds : ending.seconds;
    }
    statistics.finish();
    auto curve = evaluations.finish(last);
    if (last) models = final_models(run, statistics);
    collectively(run.cluster, [&] {
        if (journal == nullptr) return;
        const PhaseScope writes(run.cluster.heartbeats(), Phase::writes);
        journal->results().curve = std::move(curve);
        journal->results().models = models.rows;
        const bool saves = last && !run.config.save_model.empty();
        const bool is_all = !schedule && !saves;
        write({{"evaluation_seconds", watch.seconds() + evaluations.inline_seconds()},
               {"chosen_model", models.chosen},
               {"disagreement", models.disagreement},
               {"spread", models.spread}},
              is_all ? verdict.status() : so_far);
        if (schedule)
            write_schedule(run.config.record_schedule, *schedule, !run.config.resume.empty());
        if (saves) save_model(run, *journal);
        if (!is_all && so_far != verdict.status()) journal->write(verdict.status());
        journal->print_end();
    });
    return verdict;
}

/// Collective. Returns why the run ended early, on the first worker's rank.
std::optional<Error> train_to_an_end(Cluster& ranks, const TrainConfig& given,
                                     std::string_view command_line, const Guardian* guardian) {
    ranks.set_stall_seconds(given.stall_timeout);
    RestorableCluster cluster(ranks);
    catch_stop_signals();  // again: MPI has taken one for itself
    check_same_options(cluster, given);
    TrainConfig config = given;
    ProtocolFacts facts;
    Team team;
    collectively(cluster, [&] {
        if (cluster.rank() == 0) check_files(config);
        facts = protocol_facts(config.protocol);
        team = facts.team(cluster.rank(), cluster.size());
    });
    std::optional<CoreShare> share;  // in virtual time nobody has cores of his own
    if (cluster.is_virtual()) {
        config.threads = config.threads.value_or(1);
        if (config.convolutions == ConvolutionAlgorithm::measured)
            config.convolutions = ConvolutionAlgorithm::direct;  // the same bits every time
    } else {
        share = share_cores(cluster);
        config.threads = choose_threads(cluster, *share, config.threads);
    }
    // There they compute for different ranks, and each gradient has the bits of one.
    use_threads(cluster.is_virtual() ? 1 : static_cast<int>(*config.threads));

    std::optional<Schedule> replay;
    if (!config.replay.empty())
        replay = read_schedule(cluster, config.replay, config.protocol, length_in_words(config));
    const Dataset dataset = load_dataset(config.data, cluster);
    Holdout holdout;
    collectively(cluster, [&] { holdout = complete(config, facts, team, dataset); });
    const auto model = initial_model(cluster, config, facts, team, dataset);
    const auto resumes_from = agree_on_checkpoint(ranks, config, dataset);
    RunControl control(ranks, team.workers);
    Run run{cluster, config, facts, team, dataset, holdout, *model, control, has_gradients(config)};

    const RankRow place = place_of(run);
    const auto state =
        4 * run.model.weights().size() * sizeof(float) * static_cast<std::size_t>(team.workers);
    TimeLimit limit(ranks, config.max_time, static_cast<double>(state));
    std::string results_file;
    const auto journal = open_journal(run, place, command_line, resumes_from, results_file);
    if (journal && guardian != nullptr) guardian->watch(journal->path());
    if (journal && limit.is_set()) journal->note("--max-time: stops " + limit.text());
    if (journal && share) {
        const auto crowded = crowding(*share, cluster.place().ranks_on_node,
                                      static_cast<int>(*config.threads), cluster.place().host);
        if (!crowded.empty()) journal->note(crowded);
    }
    Verdict verdict;
    try {
        verdict = train_and_report(run, limit, place, journal.get(), replay ? &*replay : nullptr,
                                   resumes_from);
    } catch (...) {
        if (journal)
            journal->write_failed();
        else if (stands_in_for_the_writer(run))
            mark_failed(results_file);
        throw;
    }
    return failure_of([&] {
        if (journal) verdict.throw_if_ended_early(journal->path(), *model, limit);
    });
}

}  // namespace

void train(Cluster& ranks, const TrainConfig& given, std::string_view command_line,
           const Guardian* guardian) {
    const auto early = train_to_an_end(ranks, given, command_line, guardian);
    // Not before all that the ranks share is given back: with that at hand, an error aborts the
    // job, and srun makes its own exit code of it.
    collectively(ranks, [&] {
        if (early) throw Error(*early);
    });
}

}  // namespace wasp
