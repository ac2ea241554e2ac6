// Compressed pushes: what is pushed and what is held back add up to what was brought, wherever
// ranks are. The weights that follow: golden.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "../../src/protocols/compressor.hpp"
#include "base/error.hpp"
#include "support/on_ranks.hpp"
#include "support/toy.hpp"

namespace wasp {
namespace {

using test::on_ranks;

std::vector<float> noise(std::size_t count, unsigned seed) {
    std::mt19937 stream(seed);
    std::normal_distribution<float> draw(0, 1e-3F);
    std::vector<float> floats(count);
    for (float& x : floats) x = draw(stream);
    return floats;
}

/// Which of [begin, end) are the `kept` largest.
std::vector<bool> are_largest(const std::vector<float>& x, std::size_t begin, std::size_t end,
                              std::size_t kept) {
    std::vector<std::size_t> order(end - begin);
    std::iota(order.begin(), order.end(), begin);
    std::ranges::stable_sort(order,
                             [&](auto a, auto b) { return std::abs(x[a]) > std::abs(x[b]); });
    std::vector<bool> largest(x.size());
    for (std::size_t i = 0; i < kept; ++i) largest[order[i]] = true;
    return largest;
}

TEST(Compressor, TopKTakesTheLargestOfEveryBlockAndKeepsTheRest) {
    constexpr std::size_t length = 2 * Window::block + 100;
    for (const double ratio : {0.001, 0.01, 0.3, 1.0}) {
        const Compression compression{Compression::Kind::topk, ratio};
        Compressor compressor(compression, length);
        std::vector<float> held_back(length);
        for (unsigned step = 0; step < 5; ++step) {
            auto update = noise(length, step);
            std::fill_n(update.begin(), 50, 0.25F);  // as large as one another: the first are taken
            for (std::size_t i = 0; i < length; ++i) held_back[i] += update[i];
            const auto pushed = compressor.compress(0, update);
            for (std::size_t begin = 0; begin < length; begin += Window::block) {
                const std::size_t end = std::min(begin + Window::block, length);
                const auto kept = compression.kept(end - begin);
                EXPECT_GE(kept, 1U);
                const auto largest = are_largest(held_back, begin, end, kept);
                for (std::size_t i = begin; i < end; ++i) {
                    ASSERT_EQ(pushed[i], largest[i] ? held_back[i] : 0.0F) << i;
                    held_back[i] -= pushed[i];
                }
            }
        }
    }
}

TEST(Compressor, NothingIsLostInTheLongRun) {
    constexpr std::size_t length = Window::block + 7;
    for (const char* text : {"fp16", "bf16", "topk:0.05"}) {
        Compressor compressor(parse_compression(text), length);
        std::vector<double> brought(length), pushed(length);
        for (unsigned step = 0; step < 200; ++step) {
            const auto update = noise(length, step);
            // In parts, as where gradients leave layer by layer.
            for (const std::size_t begin : {Window::block, std::size_t{0}}) {
                const auto part =
                    std::span(update).subspan(begin, std::min(Window::block, length - begin));
                const auto q = compressor.compress(begin, part);
                ASSERT_EQ(q.size(), part.size());
                for (std::size_t i = 0; i < q.size(); ++i) {
                    brought[begin + i] += static_cast<double>(part[i]);
                    pushed[begin + i] += static_cast<double>(q[i]);
                }
            }
        }
        // What 200 updates came to is short of what one push holds back.
        const double most = std::string(text) == "topk:0.05" ? 0.05 : 1e-5;
        for (std::size_t i = 0; i < length; ++i) ASSERT_NEAR(pushed[i], brought[i], most) << text;
    }
}

TEST(Compressor, VeryLargeAndVerySmallUpdatesAreHeldBackNotLost) {
    Compressor compressor({.kind = Compression::Kind::fp16}, 2);
    double large = 0, small = 0;
    for (int step = 0; step < 1000; ++step) {
        const std::vector<float> update{step == 0 ? 1e6F : 0.0F, 0x1p-30F};
        const auto pushed = compressor.compress(0, update);
        large += static_cast<double>(pushed[0]);
        small += static_cast<double>(pushed[1]);
    }
    EXPECT_EQ(large, 1e6);
    EXPECT_NEAR(small, 1000 * 0x1p-30, 0x1p-25);
}

TEST(Compression, SaysWhatItSaves) {
    EXPECT_EQ(Compression{}.share(100), 1);
    EXPECT_EQ(parse_compression("bf16").share(100), 0.5);
    EXPECT_EQ(parse_compression("topk:0.25").share(4096 * 3), 0.375);
    EXPECT_EQ(parse_compression("topk:0.5").share(4096 * 3), 1);
    EXPECT_EQ(parse_compression("topk:0.001").share(4096 + 1), 1.5 * 6 / 4097);
    for (const char* wrong : {"", "fp8", "topk", "topk:", "topk:0", "topk:1.5", "topk:x", "fp16:1"})
        EXPECT_THROW(parse_compression(wrong), Error) << wrong;
}

// Two ranks in turns: the same weights on one node and on two, to the bit.
TEST(RanksCompression, TheSameBitsWhereverRanksAre) {
    on_ranks({2}, [](Cluster& cluster) {
        for (const char* text : {"fp16", "bf16", "topk:0.02"}) {
            std::vector<int> script;
            for (int turn = 0; turn < 42; ++turn) script.push_back(turn % 2);
            TurnTakingCluster turns(cluster, script);
            test::Training training{.spec = "asp",
                                    .sgd = {.momentum = 0.9F},
                                    .rate = 0.01F,
                                    .steps = 20,
                                    .n = test::several_shards,
                                    .compression = parse_compression(text),
                                    .turns = &turns};
            const auto trained = test::train(turns, training);
            // What both would come to by the formula, one after the other.
            std::vector<test::Toy> toys(2, test::Toy(training.n));
            std::vector<Sgd> sgd(2, Sgd(training.n, training.sgd));
            std::vector<Compressor> compressors(2, Compressor(training.compression, training.n));
            std::vector<float> shared = toys[0].weights;
            for (std::int64_t turn = 0; turn < 2 * training.steps; ++turn) {
                const auto worker = static_cast<std::size_t>(turn % 2);
                toys[worker].gradient(turn % 2, turn / 2);
                sgd[worker].set_learning_rate(training.rate);
                const auto pushed = compressors[worker].compress(
                    0, sgd[worker].update(toys[worker].gradients, toys[worker].weights));
                for (std::size_t i = 0; i < shared.size(); ++i) shared[i] += pushed[i];
                toys[worker].weights = shared;
            }
            EXPECT_EQ(trained.weights, shared) << text;
        }
    });
}

}  // namespace
}  // namespace wasp
