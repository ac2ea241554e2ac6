/// Stochastic gradient push: push-sum on a directed exponential graph.
///     x += u(g at z);   keep half of x and of its share w, give half to the rank 2^k further on
///     x, w = what I keep + what I get;   z = x/w,   k = 0, 1, … ⌊log2(P−1)⌋, 0, …
/// z is what is trained. Ranks that have finished are given nothing: Σx and Σw of the others stay.
/// Source: Assran et al. 2019 (arXiv 1811.10792), algorithm 1.
#include <algorithm>
#include <bit>

#include "base/aligned.hpp"
#include "cluster/laps.hpp"
#include "peer_models.hpp"
#include "table.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

class StochasticGradientPush final : public Protocol {
public:
    explicit StochasticGradientPush(const ProtocolSetup& setup)
        : cluster_(setup.cluster),
          sgd_(setup.sgd),
          peers_(setup.cluster, setup.weights.size() + 1),
          mine_(setup.weights.size() + 1),
          received_(setup.weights.size() + 1) {
        w() = 1;
    }

    Exchange exchange(Replica replica, float loss) override {
        Exchange record;
        record.version = step_++;
        record.pushed = false;
        const auto step = sgd_.update(replica.gradients, replica.weights);
        if (step_ == 1) copy(replica.weights, x());
        axpy(1.0F, step, x());
        if (cluster_.size() > 1) mix(loss, record);
        copy(x(), replica.weights);
        if (w() != 1) scale(1 / w(), replica.weights);
        peers_.show_a_sign_of_life();
        return record;
    }

    bool retire() override {
        peers_.retire();
        return true;
    }
    void finish(Replica /*replica*/) override { peers_.finish(); }
    std::int64_t version() const override { return step_; }
    void visit(State& state) override {
        peers_.visit(state);
        state.values("mine", std::span<float>(mine_));
        state.value("step", step_);
    }

private:
    std::span<float> x() { return std::span(mine_).first(mine_.size() - 1); }
    float& w() { return mine_.back(); }

    /// The rank that is 2^k further on at my publication `number`; backwards: to whom I am it.
    int partner(std::int64_t number, bool backwards) const {
        const int ranks = cluster_.size();
        const int distances = std::max<int>(1, std::bit_width(static_cast<unsigned>(ranks - 1)));
        const int distance = 1 << (number - 1) % distances;
        return (cluster_.rank() + (backwards ? ranks - distance : distance)) % ranks;
    }

    void mix(float loss, Exchange& record) {
        Laps laps(cluster_);
        const std::int64_t number = peers_.published() + 1;
        // Boards keep few publications: who is to take the one before the last has to go on first.
        if (number > 2) peers_.wait_for(partner(number - 2, false), number - 1);
        record.wait_seconds = laps.lap();
        peers_.publish(step_, loss, mine_);
        record.push_seconds = laps.lap();
        const int giver = partner(number, true);
        const int taker = partner(number, false);
        peers_.wait_for(giver, number);
        peers_.wait_for(taker, number);
        record.wait_seconds += laps.lap();
        if (peers_.has_published(taker, number)) scale(0.5F, mine_);
        if (peers_.has_published(giver, number) && peers_.look(giver, number, received_)) {
            axpy(0.5F, received_, mine_);
            record.bytes = static_cast<std::int64_t>(std::span(received_).size_bytes());
        }
        record.pull_seconds = laps.lap();
    }

    Cluster& cluster_;
    Sgd& sgd_;
    PeerModels peers_;
    AlignedFloats mine_, received_;  // x and, last, its share w
    std::int64_t step_ = 0;
};

}  // namespace

constinit const ProtocolRow sgp_row{
    .name = "sgp",
    .rule = "each rank its own model; every step half of it goes to the rank 1, 2, 4, … further on",
    .source = "Assran et al. 2019",
    .shares_weights = false,
    .keys = [] { return std::vector<Key>{}; },
    .make = [](const Settings& /*settings*/, const ProtocolSetup& setup, const Team& /*team*/)
        -> std::unique_ptr<Protocol> { return std::make_unique<StochasticGradientPush>(setup); }};

}  // namespace wasp
