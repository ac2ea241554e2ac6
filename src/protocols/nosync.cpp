/// NoSync: every rank trains its own model, and pressure makes the models converge.
///     every step:      u = μ·u − η·g;   x += u;   f = EMA of the loss
///     every τ steps:   publish {step, f, x};   look at my ring neighbours' last publications
///                      x += p(t)·(target − x),   target from the neighbours' models
/// A reconstruction: of Isakov, Kinsy, ICANN 2018 (doi 10.1007/978-3-030-01421-6_58) only the
/// abstract is public: each worker trains a separate model and applies pressure that forces the
/// models to converge, inspired by particle swarm optimisation. The ring, the target, p(t) and τ
/// are our reading.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "base/random.hpp"
#include "own_weights.hpp"
#include "protocols/sub_cluster.hpp"
#include "table.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

using Kind = Key::Kind;

constexpr std::array targets{
    Choice{"mean", "the mean of the neighbours"},
    Choice{"best", "the neighbour with the lowest loss f, or me: then I stay"},
    Choice{"random", "one neighbour, drawn anew each time"},
    Choice{"weighted", "the neighbours, weighted by e^-f: the likelihood of their labels"}};
constexpr std::array applications{
    Choice{"position", "x += p·(target − x), at each look"},
    Choice{"velocity", "u += (1−μ)·p·(target − x), each step until the next look"}};
constexpr std::array exchanges{
    Choice{"rma", "the last that neighbours published; nobody waits"},
    Choice{"sendrecv", "both neighbours' publication of the same number; deterministic"}};
constexpr std::array shards{Choice{"full", "every rank sees all data, in its own order"},
                            Choice{"disjoint", "every rank its part"}};
constexpr std::array beginnings{Choice{"same", "all start from one model"},
                                Choice{"different", "each from its own random model"}};

std::vector<Key> keys() {
    return {
        steps_key("tau", "16",
                  "steps between looks; ranks take turns, except with exchange=sendrecv"),
        {.name = "target",
         .kind = Kind::choice,
         .fallback = "mean",
         .choices = targets,
         .meaning = "what I move towards:"},
        {.name = "p",
         .kind = Kind::ramp,
         .fallback = "0.01..0.5",
         .high = 1,
         .meaning = "pressure, from the first step to the last; or one number throughout"},
        {.name = "apply",
         .kind = Kind::choice,
         .fallback = "position",
         .choices = applications,
         .meaning = "what the pressure changes:"},
        {.name = "exchange",
         .kind = Kind::choice,
         .fallback = "rma",
         .choices = exchanges,
         .meaning = "which publications I look at:"},
        {.name = "max_age",
         .fallback = "inf",
         .high = unlimited,
         .meaning = "steps by which a neighbour may be behind; then it is skipped, and counted"},
        {.name = "ema",
         .kind = Kind::number,
         .fallback = "0.9",
         .high = 0.9999,
         .meaning = "f = ema·f + (1−ema)·loss"},
        {.name = "shards",
         .kind = Kind::choice,
         .fallback = "full",
         .choices = shards,
         .meaning = "which data a rank sees:"},
        {.name = "init",
         .kind = Kind::choice,
         .fallback = "same",
         .choices = beginnings,
         .meaning = "where ranks start:"},
        {.name = "groups",
         .fallback = "0",
         .high = 1'000'000,
         .meaning = "groups of as many ranks each, one model a group; 0: each rank its own"},
        {.name = "inner",
         .kind = Kind::text,
         .fallback = "bsp",
         .meaning = "SPEC of what trains a group's model, with + for the commas"},
    };
}

float weighted_target(std::span<const Sight> seen, float /*my_loss*/, std::span<float> target) {
    const auto lowest = std::ranges::min(seen, {}, &Sight::loss).loss;  // e^-f underflows, this not
    std::vector<double> likelihoods;
    for (const Sight& sight : seen)
        likelihoods.push_back(std::exp(static_cast<double>(lowest - sight.loss)));
    weighted_mean(seen, likelihoods, target);
    return 1;
}

Target random_target(std::shared_ptr<RandomStream> random) {
    return [random = std::move(random)](std::span<const Sight> seen, float /*my_loss*/,
                                        std::span<float> target) {
        copy(seen[random->below(seen.size())].model, target);
        return 1.0F;
    };
}

Target make_target(const std::string& name, const std::shared_ptr<RandomStream>& random) {
    if (name == "best") return best_target;
    if (name == "random") return random_target(random);
    if (name == "weighted") return weighted_target;
    return mean_target;
}

/// A group of ranks that trains one model by another protocol.
struct Group {
    Group(Cluster& whole, std::vector<int> members, std::size_t weights)
        : cluster(whole, std::move(members), weights) {}

    SubCluster cluster;
    std::unique_ptr<Protocol> protocol = nullptr;
};

/// My group. Group g has the ranks g·n … g·n + n − 1.
std::shared_ptr<Group> make_group(const Settings& settings, const ProtocolSetup& setup, int n) {
    std::vector<int> members(static_cast<std::size_t>(n));
    std::iota(members.begin(), members.end(), setup.cluster.rank() / n * n);
    auto group = std::make_shared<Group>(setup.cluster, std::move(members), setup.weights.size());
    ProtocolSetup inner{.cluster = group->cluster,
                        .sgd = setup.sgd,
                        .weights = setup.weights,
                        .seed = setup.seed,
                        .planned_steps = setup.planned_steps,
                        .momentum_at_server = setup.momentum_at_server};
    group->protocol = make_protocol(inner_spec(settings.text("inner")), inner);
    return group;
}

/// Ranks of the same number in the groups beside mine.
std::vector<int> neighbours_across(int rank, int groups, int group_size) {
    auto ranks = ring_neighbours(rank / group_size, groups);
    for (int& other : ranks) other = other * group_size + rank % group_size;
    return ranks;
}

std::unique_ptr<Protocol> make(const Settings& settings, const ProtocolSetup& setup,
                               const Team& team) {
    const int me = setup.cluster.rank();
    const bool grouped = settings.whole("groups") > 0;
    const int groups = grouped ? static_cast<int>(settings.whole("groups")) : team.workers;
    const int group_size = team.workers / groups;
    const bool wait = settings.chosen("exchange", "sendrecv");
    const bool velocity = settings.chosen("apply", "velocity");
    const std::int64_t tau = settings.whole("tau");
    REQUIRE(!velocity || !setup.sgd.nesterov(),
            "nosync: apply=velocity has no meaning with Nesterov's momentum; leave one out");
    const auto neighbours = neighbours_across(me, groups, group_size);
    const auto random = std::make_shared<RandomStream>(setup.seed, "nosync target", me);
    const auto group = grouped ? make_group(settings, setup, group_size) : nullptr;
    return std::make_unique<OwnWeights>(
        setup,
        OwnRule{.whom = always(neighbours),
                .most_peers = neighbours.size(),
                .target = make_target(settings.choice("target"), random),
                .strength = settings.ramp("p"),
                .apply = velocity ? Apply::velocity : Apply::position,
                .period = tau,
                .offset = wait ? 0 : me / group_size * tau / groups,
                .wait = wait,
                .max_age = settings.whole("max_age"),
                .smoothing = settings.number("ema"),
                .inner = group ? std::shared_ptr<Protocol>(group, group->protocol.get()) : nullptr,
                .visit = [random, group](State& state) {
                    state.value("draw", *random);
                    if (!group) return;
                    group->cluster.visit(state);
                    group->protocol->visit(state);
                }});
}

}  // namespace

constinit const ProtocolRow nosync_row{
    .name = "nosync",
    .rule =
        "each rank its own model; every tau steps x += p·(target − x), target from the\n"
        "           neighbours on a ring (a reconstruction: the paper is public as an abstract "
        "only)",
    .source = "Isakov, Kinsy, ICANN 2018, doi 10.1007/978-3-030-01421-6_58",
    .shares_weights = false,
    .keys = keys,
    .make = make};

}  // namespace wasp
