/// Asynchronous decentralised SGD: average with one random neighbour, then apply the gradient of
/// the model as it was.
///     d = (x_j − x_i)/2;   x_i += d;   x_j −= d;   x_i += u(g)
/// x_j is the neighbour's own model, changed while it computes; nobody waits, and no sum of models
/// changes but by the steps. Source: Lian et al. 2018 (arXiv 1710.06952), algorithm 1.
#include <array>
#include <utility>

#include "base/aligned.hpp"
#include "base/random.hpp"
#include "cluster/clocks.hpp"
#include "cluster/laps.hpp"
#include "own_weights.hpp"
#include "table.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

constexpr std::array graphs{Choice{"ring", "one of my two neighbours on a ring"},
                            Choice{"complete", "any other rank"}};

class AsynchronousGossip final : public Protocol {
public:
    AsynchronousGossip(const ProtocolSetup& setup, std::vector<int> neighbours)
        : cluster_(setup.cluster),
          sgd_(setup.sgd),
          neighbours_(std::move(neighbours)),
          draw_(setup.seed, "adpsgd neighbour", setup.cluster.rank()),
          models_(setup.cluster.make_window(setup.weights.size())),
          changes_(setup.cluster.make_counters(1)),
          clocks_(setup.cluster),
          difference_(neighbours_.empty() ? 0 : setup.weights.size()) {
        models_->put(me(), 0, setup.weights);
        cluster_.barrier();
    }

    Exchange exchange(Replica replica, float /*loss*/) override {
        Exchange record;
        record.version = step_++;
        record.pushed = false;
        const auto step = sgd_.update(replica.gradients, replica.weights);
        record.staleness = changes_->read(me(), 0) - changes_seen_;
        if (!neighbours_.empty()) average(replica.gradients, record);
        models_->add(me(), 0, 1.0F, step);
        changes_seen_ = changes_->read(me(), 0);
        models_->get(me(), 0, replica.weights);
        clocks_.tick();
        return record;
    }

    bool retire() override {
        clocks_.retire();
        return true;
    }
    void finish(Replica replica) override {
        retire();
        clocks_.wait_for_all_retired([this] { return clocks_.slowest(); });
        models_->get(me(), 0, replica.weights);
        cluster_.barrier();
    }

    std::int64_t version() const override { return step_; }
    void visit(State& state) override {
        clocks_.visit(state);
        state.value("draw", draw_);
        state.value("step", step_);
        state.value("changes_seen", changes_seen_);
    }

private:
    int me() const { return cluster_.rank(); }

    /// mine: room for my model as it is now.
    void average(std::span<float> mine, Exchange& record) {
        Laps laps(cluster_);
        const int other = neighbours_[draw_.below(neighbours_.size())];
        models_->get(me(), 0, mine);
        models_->get(other, 0, difference_);
        axpy(-1.0F, mine, difference_);
        record.pull_seconds = laps.lap();
        models_->add(me(), 0, 0.5F, difference_);
        models_->add(other, 0, -0.5F, difference_);
        changes_->fetch_add(other, 0, 1);
        record.push_seconds = laps.lap();
        record.bytes = static_cast<std::int64_t>(2 * std::span(difference_).size_bytes());
    }

    Cluster& cluster_;
    Sgd& sgd_;
    std::vector<int> neighbours_;
    RandomStream draw_;
    std::unique_ptr<Window> models_;     // x of every rank
    std::unique_ptr<Counters> changes_;  // made to each by others
    Clocks clocks_;
    AlignedFloats difference_;
    std::int64_t step_ = 0, changes_seen_ = 0;
};

std::vector<int> all_others(int rank, int ranks) {
    std::vector<int> others;
    for (int other = 0; other < ranks; ++other)
        if (other != rank) others.push_back(other);
    return others;
}

std::vector<Key> keys() {
    return {{.name = "graph",
             .kind = Key::Kind::choice,
             .fallback = "ring",
             .choices = graphs,
             .meaning = "whom I may average with:"}};
}

std::unique_ptr<Protocol> make(const Settings& settings, const ProtocolSetup& setup,
                               const Team& team) {
    const int me = setup.cluster.rank();
    return std::make_unique<AsynchronousGossip>(setup, settings.chosen("graph", "ring")
                                                           ? ring_neighbours(me, team.workers)
                                                           : all_others(me, team.workers));
}

}  // namespace

constinit const ProtocolRow adpsgd_row{
    .name = "adpsgd",
    .rule = "each rank its own model; every step mine and a random neighbour's become their mean",
    .source = "Lian et al. 2018",
    .shares_weights = false,
    .keys = keys,
    .make = make};

}  // namespace wasp
