// Gradients that leave layer by layer: the same weights as when they leave at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "../../src/protocols/gradient_buckets.hpp"
#include "support/on_ranks.hpp"
#include "support/toy.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {
namespace {

using test::on_ranks;
using test::train;

TEST(GradientBuckets, AreTheSameInWhateverOrderSlicesCome) {
    constexpr std::size_t length = 2 * GradientBuckets::largest + 1000;
    // A block's shortcut, which lies above the layers beside it, is final after them.
    const std::vector<std::vector<std::size_t>> orders{
        {0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {3, 4, 1, 2, 0}, {2, 0, 4, 1, 3}};
    const std::vector<std::size_t> bounds{0,      10,         GradientBuckets::largest + 7,
                                          600000, length - 1, length};
    GradientBuckets buckets(length);
    for (const auto& order : orders) {
        buckets.restart();
        std::vector<bool> is_final(5, false);
        std::vector<std::pair<std::size_t, std::size_t>> sent;
        for (const std::size_t slice : order) {
            is_final[slice] = true;
            buckets.add(bounds[slice], bounds[slice + 1] - bounds[slice],
                        [&](std::size_t offset, std::size_t count) {
                            sent.emplace_back(offset, count);
                            for (std::size_t s = 0; s < 5; ++s)
                                EXPECT_TRUE(is_final[s] || bounds[s + 1] <= offset ||
                                            bounds[s] >= offset + count)
                                    << "slice " << s << " is not final";
                        });
        }
        EXPECT_TRUE(buckets.complete());
        using Bucket = std::pair<std::size_t, std::size_t>;
        EXPECT_EQ(sent, (std::vector<Bucket>{{2 * GradientBuckets::largest, 1000},
                                             {GradientBuckets::largest, GradientBuckets::largest},
                                             {0, GradientBuckets::largest}}));
    }
}

constexpr std::array shared_specs{"asp", "ssp:S=1", "dynsgd", "wasp:period=4",
                                  "wasp:period=4,servers=1"};

void expect_the_same(Cluster& cluster, test::Training training) {
    const auto at_once = train(cluster, training);
    training.overlap = true;
    const auto overlapped = train(cluster, training);
    ASSERT_EQ(at_once.weights, overlapped.weights);
    ASSERT_EQ(at_once.version, overlapped.version);
    ASSERT_EQ(at_once.records.size(), overlapped.records.size());
    for (std::size_t i = 0; i < at_once.records.size(); ++i)
        ASSERT_EQ(at_once.records[i].weight, overlapped.records[i].weight);
}

TEST(RanksOverlap, BspHasTheSameBits) {
    on_ranks({1, 2, 3, 4}, [](Cluster& cluster) {
        for (const auto& sgd : test::optimisers) {
            expect_the_same(cluster, {.spec = "bsp", .sgd = sgd, .steps = 12});
            expect_the_same(
                cluster,
                {.spec = "bsp", .sgd = sgd, .steps = 2, .n = GradientBuckets::largest + 3});
        }
    });
}

TEST(RanksOverlap, BspGoesOnWithoutThoseWhoAreDone) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        const bool last = cluster.rank() == cluster.size() - 1;
        for (const std::int64_t steps : {0, 3})
            expect_the_same(cluster, {.spec = "bsp", .steps = last ? 9 : steps});
    });
}

TEST(RanksOverlap, BspLeavesOutWhatIsNotFinite) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        const bool broken = cluster.rank() == 0;
        int step = 0;
        const auto trained =
            train(cluster, {.spec = "bsp",
                            .rate = 0.5F,
                            .steps = 3,
                            .gradient =
                                [&](test::Toy& toy) {
                                    const bool now = ++step == 2 && broken;
                                    std::ranges::fill(
                                        toy.gradients,
                                        now ? std::numeric_limits<float>::quiet_NaN() : 1.0F);
                                    return 0.0F;
                                },
                            .overlap = true});
        test::Toy start(trained.weights.size());
        for (std::size_t i = 0; i < trained.weights.size(); ++i)
            EXPECT_FLOAT_EQ(trained.weights[i], start.weights[i] - 1.5F);
        EXPECT_FLOAT_EQ(trained.records[1].weight, 1.0F / static_cast<float>(cluster.size() - 1));
    });
}

// A worker that diverges leaves between its gradient and the exchange.
TEST(RanksOverlap, BspEndsWhenAWorkerLeavesAfterComputing) {
    on_ranks({1, 2, 4}, [](Cluster& cluster) {
        test::Toy toy(37);
        Sgd sgd(37, {});
        const auto protocol = make_protocol(
            "bsp", {.cluster = cluster, .sgd = sgd, .weights = toy.weights, .overlap = true});
        const auto ready = [&] { protocol->gradient_ready({toy.weights, toy.gradients}, 0, 37); };
        for (int step = 0; step < 2; ++step) {
            toy.gradient(cluster.rank(), step);
            ready();
            protocol->exchange({toy.weights, toy.gradients}, 1);
        }
        std::ranges::fill(toy.gradients, std::numeric_limits<float>::quiet_NaN());
        ready();
        if (cluster.rank() > 0) {
            const auto record = protocol->exchange({toy.weights, toy.gradients}, 1);
            EXPECT_FALSE(record.pushed) << "nobody's gradient was finite";
        }
        protocol->finish({toy.weights, toy.gradients});
        EXPECT_TRUE(all_finite(toy.weights));
    });
}

TEST(RanksOverlap, ASharedStoreOfOneWorkerHasTheSameBits) {
    on_ranks({1, 2}, [](Cluster& cluster) {
        for (const auto& sgd : test::optimisers)
            for (const std::string spec : shared_specs) {
                const auto facts = protocol_facts(spec);
                if (cluster.size() - facts.servers != 1) continue;
                SCOPED_TRACE(spec);
                expect_the_same(cluster, {.spec = spec, .sgd = sgd, .steps = 12});
            }
        if (cluster.size() == 1)
            expect_the_same(cluster,
                            {.spec = "wasp", .steps = 2, .n = 2 * GradientBuckets::largest + 3});
    });
}

TEST(RanksOverlap, ASharedStoreLosesNothing) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        for (const char* spec :
             {"asp", "ssp:S=1", "asp:servers=1", "wasp:weight=constant,period=3"}) {
            SCOPED_TRACE(spec);
            auto training = test::with_ones(spec, 10);
            training.overlap = true;
            const auto trained = train(cluster, training);
            const double steps = test::pushes(cluster, trained);
            EXPECT_EQ(steps, 10.0 * (cluster.size() - protocol_facts(spec).servers));
            EXPECT_EQ(trained.version, static_cast<std::int64_t>(steps));
            EXPECT_EQ(trained.weights, test::start_less(steps));
        }
    });
}

TEST(RanksOverlap, ASharedStoreEndsWhenAWorkerLeavesAfterComputing) {
    on_ranks({1, 2, 4}, [](Cluster& cluster) {
        for (const char* spec : {"asp", "ssp:S=1", "wasp:period=4"})
            for (const float value : {1.0F, std::numeric_limits<float>::quiet_NaN()}) {
                test::Toy toy(37);
                Sgd sgd(37, {});
                const auto protocol = make_protocol(
                    spec,
                    {.cluster = cluster, .sgd = sgd, .weights = toy.weights, .overlap = true});
                if (cluster.rank() == 0) {
                    std::ranges::fill(toy.gradients, value);
                    protocol->gradient_ready({toy.weights, toy.gradients}, 0, 37);
                }
                protocol->finish({toy.weights, toy.gradients});
                EXPECT_EQ(protocol->version(), value == 1 ? 1 : 0) << spec;
                EXPECT_TRUE(all_finite(toy.weights));
            }
    });
}

}  // namespace
}  // namespace wasp
