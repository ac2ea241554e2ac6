/// Leader SGD: each rank trains its own model and is pulled towards that of the leader, the rank
/// with the lowest loss.
///     every step:      x += u;   f = EMA of the loss
///     every τ steps:   publish f and x;   x += p·(x of the leader − x)
/// Source: Teng et al. 2019 (arXiv 1905.10395), without its groups of workers.
#include <memory>

#include "own_weights.hpp"
#include "table.hpp"

namespace wasp {

namespace {

using Kind = Key::Kind;

std::vector<Key> keys() {
    return {steps_key("tau", "16", "steps between looks; ranks take turns"),
            {.name = "p",
             .kind = Kind::ramp,
             .fallback = "0.1",
             .high = 1,
             .meaning = "pull, from the first step to the last; or one number throughout"},
            {.name = "ema",
             .kind = Kind::number,
             .fallback = "0.9",
             .high = 0.9999,
             .meaning = "f = ema·f + (1−ema)·loss"}};
}

/// Everyone's loss on boards of its own: of the models only the leader's is read.
class Leader {
public:
    explicit Leader(Cluster& cluster) : cluster_(cluster), losses_(cluster, 1) {}

    std::span<const int> operator()(std::int64_t step, float my_loss) {
        losses_.publish(step, my_loss, {&my_loss, 1});
        leader_ = cluster_.rank();
        float lowest = my_loss;
        for (int rank = 0; rank < cluster_.size(); ++rank) {
            float loss = 0;
            if (rank == cluster_.rank() || !losses_.look(rank, {&loss, 1}) || !(loss < lowest))
                continue;
            lowest = loss;
            leader_ = rank;
        }
        if (leader_ == cluster_.rank()) return {};
        return {&leader_, 1};
    }

    void visit(State& state) { losses_.visit(state); }

private:
    Cluster& cluster_;
    PeerBoard losses_;
    int leader_ = 0;
};

std::unique_ptr<Protocol> make(const Settings& settings, const ProtocolSetup& setup,
                               const Team& team) {
    const std::int64_t tau = settings.whole("tau");
    const auto leader = std::make_shared<Leader>(setup.cluster);
    return std::make_unique<OwnWeights>(
        setup, OwnRule{.whom = [leader](std::int64_t step,
                                        float my_loss) { return (*leader)(step, my_loss); },
                       .most_peers = team.workers > 1 ? std::size_t{1} : std::size_t{0},
                       .target = mean_target,
                       .strength = settings.ramp("p"),
                       .period = tau,
                       .offset = setup.cluster.rank() * tau / team.workers,
                       .smoothing = settings.number("ema"),
                       .visit = [leader](State& state) { leader->visit(state); }});
}

}  // namespace

constinit const ProtocolRow lsgd_row{
    .name = "lsgd",
    .rule = "each rank its own model; every tau steps x += p·(model of the lowest loss − x)",
    .source = "Teng et al. 2019",
    .shares_weights = false,
    .keys = keys,
    .make = make};

}  // namespace wasp
