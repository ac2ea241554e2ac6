#include "node_sum.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "cluster/laps.hpp"
#include "rounds.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

struct Places {
    std::vector<double> node, on_node;  // by rank
};

Places gather_places(Cluster& cluster) {
    const auto ranks = static_cast<std::size_t>(cluster.size());
    Places places{std::vector<double>(ranks), std::vector<double>(ranks)};
    places.node[static_cast<std::size_t>(cluster.rank())] = cluster.place().node;
    places.on_node[static_cast<std::size_t>(cluster.rank())] = cluster.place().rank_on_node;
    cluster.sum(places.node);
    cluster.sum(places.on_node);
    return places;
}

std::vector<int> ranks_with(const std::vector<double>& values, double value) {
    std::vector<int> ranks;
    for (std::size_t rank = 0; rank < values.size(); ++rank)
        if (values[rank] == value) ranks.push_back(static_cast<int>(rank));
    return ranks;
}

class NodeSum final : public Protocol {
public:
    NodeSum(const ProtocolSetup& setup, const Places& places)
        : node_(setup.cluster, ranks_with(places.node, setup.cluster.place().node),
                setup.weights.size()),
          across_(setup.cluster, ranks_with(places.on_node, setup.cluster.place().rank_on_node),
                  setup.weights.size()),
          sgd_(setup.sgd) {}

    Cluster& across() { return across_; }
    void train_with(std::unique_ptr<Protocol> protocol) { protocol_ = std::move(protocol); }

    Exchange exchange(Replica replica, float loss) override {
        Exchange record;
        record.version = protocol_->version();
        record.pushed = false;
        step_together(replica, loss, true, record);
        return record;
    }

    /// Goes on with nothing until all of the node are done.
    void finish(Replica replica) override {
        Exchange unrecorded;
        while (step_together(replica, 0, false, unrecorded)) {
        }
        protocol_->finish(replica);
        node_.broadcast(std::as_writable_bytes(replica.weights), 0);
    }

    std::int64_t version() const override { return protocol_->version(); }
    void visit(State& state) override {
        node_.visit(state);
        across_.visit(state);
        protocol_->visit(state);
    }

private:
    /// Collective on the node. Returns whether anyone brought a gradient.
    bool step_together(Replica replica, float loss, bool active, Exchange& record) {
        Laps laps(node_);
        const Round round = meet(node_, active ? 1 : 0, sgd_.learning_rate());
        record.wait_seconds = laps.lap();
        if (round.active == 0) return false;
        if (!active) std::ranges::fill(replica.gradients, 0.0F);
        node_.sum(replica.gradients);
        scale(round.share(), replica.gradients);
        const double summed = laps.lap();
        if (node_.rank() == 0) {
            sgd_.set_learning_rate(static_cast<float>(round.rate));
            const double waited = record.wait_seconds;
            record = protocol_->exchange(replica, loss);
            record.wait_seconds += waited;
        }
        laps.lap();
        node_.broadcast(std::as_writable_bytes(replica.weights), 0);
        record.push_seconds += summed;
        record.pull_seconds += laps.lap();
        return true;
    }

    SubCluster node_, across_;
    Sgd& sgd_;
    std::unique_ptr<Protocol> protocol_;  // of those with my number on their node
};

}  // namespace

std::unique_ptr<Protocol> sum_within_nodes(
    const ProtocolSetup& setup,
    const std::function<std::unique_ptr<Protocol>(const ProtocolSetup&, const Team&)>& make) {
    const Places places = gather_places(setup.cluster);
    const auto first = ranks_with(places.node, places.node.front()).size();
    for (const double node : places.node) {
        const auto ranks = ranks_with(places.node, node).size();
        REQUIRE(ranks == first, "node_sum=on needs as many ranks on each node, not {} and {}",
                first, ranks);
    }
    auto sum = std::make_unique<NodeSum>(setup, places);
    const Team team{.workers = sum->across().size(), .worker = sum->across().rank()};
    ProtocolSetup between{.cluster = sum->across(),
                          .sgd = setup.sgd,
                          .weights = setup.weights,
                          .seed = setup.seed,
                          .planned_steps = setup.planned_steps,
                          .momentum_at_server = setup.momentum_at_server,
                          .compression = setup.compression};
    sum->train_with(make(between, team));
    return sum;
}

}  // namespace wasp
