// Ranks in groups that train one model each: NoSync around other protocols.
#include <algorithm>
#include <numeric>

#include "protocols/sub_cluster.hpp"
#include "support/on_ranks.hpp"
#include "support/toy.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {
namespace {

using test::all_gather;
using test::check_near;
using test::on_ranks;
using test::train;
using test::Training;

const SgdSetup heavy{.momentum = 0.9F, .weight_decay = 0.01F};

std::vector<int> half_of(const Cluster& cluster) {
    std::vector<int> members(static_cast<std::size_t>(cluster.size() / 2));
    std::iota(members.begin(), members.end(),
              cluster.rank() / (cluster.size() / 2) * (cluster.size() / 2));
    return members;
}

TEST(RanksSubCluster, CollectivesAreOfTheMembers) {
    on_ranks({2, 4, 8}, [](Cluster& cluster) {
        SubCluster group(cluster, half_of(cluster), 10);
        const auto members = static_cast<std::size_t>(group.size());
        const int first = cluster.rank() - group.rank();
        std::vector<float> floats(10'000,
                                  static_cast<float>(cluster.rank()));  // longer than a desk
        group.sum(floats);
        const int expected = group.size() * first + group.size() * (group.size() - 1) / 2;
        for (const float x : floats) ASSERT_EQ(x, static_cast<float>(expected));
        std::vector<double> doubles(5'000, cluster.rank() + 0.1);
        group.sum(doubles);
        for (const double x : doubles) ASSERT_NEAR(x, expected + 0.1 * group.size(), 1e-9);

        std::vector<int> said(9'001, cluster.rank());
        group.broadcast(std::as_writable_bytes(std::span(said)), group.size() - 1);
        for (const int x : said) ASSERT_EQ(x, first + group.size() - 1);

        const std::vector<std::byte> letter(static_cast<std::size_t>(cluster.rank()), std::byte{7});
        const auto letters = group.gather(letter, 0);
        ASSERT_EQ(letters.size(), group.rank() == 0 ? members : 0);
        for (std::size_t i = 0; i < letters.size(); ++i)
            EXPECT_EQ(letters[i].size(), static_cast<std::size_t>(first) + i);
    });
}

TEST(RanksGroups, OneGroupIsItsInnerProtocol) {
    on_ranks({1, 2, 4}, [](Cluster& cluster) {
        const auto bsp = train(cluster, {.spec = "bsp", .sgd = heavy});
        const auto grouped = train(cluster, {.spec = "nosync:groups=1,inner=bsp", .sgd = heavy});
        check_near(grouped.weights, bsp.weights);
    });
}

TEST(RanksGroups, WithoutPressureTheyAreIndependent) {
    on_ranks({2, 4, 8}, [](Cluster& cluster) {
        const Training training{.spec = "nosync:groups=2,inner=bsp,p=0,tau=1", .sgd = heavy};
        const auto trained = train(cluster, training);
        // The mean gradient of the group's workers, as one worker alone would take it.
        const int members = cluster.size() / 2;
        const int first = cluster.rank() / members * members;
        test::Toy toy(training.n);
        test::Toy mean(training.n);
        Sgd sgd(training.n, training.sgd);
        sgd.set_learning_rate(training.rate);
        for (std::int64_t step = 0; step < training.steps; ++step) {
            std::ranges::fill(mean.gradients, 0.0F);
            for (int worker = first; worker < first + members; ++worker) {
                toy.gradient(worker, step);
                axpy(1.0F / static_cast<float>(members), toy.gradients, mean.gradients);
            }
            axpy(1.0F, sgd.update(mean.gradients, toy.weights), toy.weights);
        }
        check_near(trained.weights, toy.weights);
    });
}

TEST(RanksGroups, MembersShareOneModelBitForBit) {
    on_ranks({2, 4, 8}, [](Cluster& cluster) {
        for (const char* spec :
             {"nosync:groups=2,tau=1,p=0.3", "nosync:groups=2,inner=asp,tau=2"}) {
            const auto trained = train(cluster, {.spec = spec, .sgd = heavy});
            const auto all = all_gather(cluster, trained.weights);
            const auto model = trained.weights.size();
            const auto members = static_cast<std::size_t>(cluster.size() / 2);
            for (std::size_t i = 0; i < all.size(); ++i)
                ASSERT_EQ(all[i], all[i / model / members * members * model + i % model]) << spec;
        }
    });
}

/// How far the models of the first and the last rank are apart in the end.
double distance(Cluster& cluster, const std::string& spec) {
    const auto trained =
        train(cluster, {.spec = spec, .steps = 60, .gradient = [&](test::Toy& toy) {
                            const bool low = cluster.rank() < cluster.size() / 2;
                            for (std::size_t i = 0; i < toy.weights.size(); ++i)
                                toy.gradients[i] = toy.weights[i] - (low ? -1.0F : 1.0F);
                            return 0.0F;
                        }});
    const auto all = all_gather(cluster, trained.weights);
    return squared_distance(std::span(all).first(trained.weights.size()),
                            std::span(all).last(trained.weights.size()));
}

TEST(RanksGroups, PressureBringsThemTogether) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        for (const std::string inner : {"bsp", "wasp:period=3", "asp"}) {
            const double apart =
                distance(cluster, "nosync:groups=2,tau=1,p=0,exchange=sendrecv,inner=" + inner);
            const double pulled =
                distance(cluster, "nosync:groups=2,tau=1,p=0.3,exchange=sendrecv,inner=" + inner);
            EXPECT_LT(pulled, apart / 4) << inner;
        }
    });
}

}  // namespace
}  // namespace wasp
