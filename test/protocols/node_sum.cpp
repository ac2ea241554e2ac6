// Nodes as workers: on a cluster that says of every two ranks that they are a node.
#include <algorithm>

#include "cluster/forwarding.hpp"
#include "support/on_ranks.hpp"
#include "support/toy.hpp"

namespace wasp {
namespace {

using test::check_near;
using test::on_ranks;
using test::train;

const SgdSetup heavy{.momentum = 0.9F, .weight_decay = 0.01F};
constexpr int ranks_on_node = 2;

class NodesOfTwo final : public ForwardingCluster {
public:
    explicit NodesOfTwo(Cluster& cluster) : ForwardingCluster(cluster), place_(cluster.place()) {
        place_.node = place_.rank / ranks_on_node;
        place_.nodes = place_.ranks / ranks_on_node;
        place_.rank_on_node = place_.rank % ranks_on_node;
        place_.ranks_on_node = ranks_on_node;
    }
    const Place& place() const override { return place_; }

private:
    Place place_;
};

TEST(RanksNodeSum, SynchronisedItIsStillBsp) {
    on_ranks({2, 4, 8}, [](Cluster& cluster) {
        NodesOfTwo nodes(cluster);
        const auto bsp = train(cluster, {.spec = "bsp", .sgd = heavy});
        const auto summed =
            train(nodes, {.spec = "wasp:weight=mean,period=1,node_sum=on", .sgd = heavy});
        check_near(summed.weights, bsp.weights);
    });
}

TEST(RanksNodeSum, ANodePushesOnceAStep) {
    on_ranks({2, 4, 8}, [](Cluster& cluster) {
        NodesOfTwo nodes(cluster);
        for (const char* spec : {"asp:node_sum=on", "ssp:S=1,node_sum=on", "wasp:node_sum=on"}) {
            const auto trained = train(nodes, {.spec = spec, .sgd = heavy, .steps = 15});
            const bool pushes = nodes.place().rank_on_node == 0;
            EXPECT_EQ(std::ranges::count(trained.records, true, &Exchange::pushed), pushes ? 15 : 0)
                << spec;
            const auto all = test::all_gather(cluster, trained.weights);
            for (std::size_t i = 0; i < all.size(); ++i)
                ASSERT_EQ(all[i], trained.weights[i % trained.weights.size()]) << spec;
        }
    });
}

TEST(RanksNodeSum, RanksOfANodeMayFinishEarly) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        NodesOfTwo nodes(cluster);
        const auto trained = train(
            nodes,
            {.spec = "wasp:node_sum=on,period=3", .sgd = heavy, .steps = 3 + 7 * cluster.rank()});
        const auto all = test::all_gather(cluster, trained.weights);
        for (std::size_t i = 0; i < all.size(); ++i)
            ASSERT_EQ(all[i], trained.weights[i % trained.weights.size()]);
    });
}

}  // namespace
}  // namespace wasp
