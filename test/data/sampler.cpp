#include "data/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.hpp"

namespace wasp {
namespace {

std::vector<std::uint32_t> epoch_of(Sampler& sampler, std::int64_t epoch) {
    std::vector<std::uint32_t> all;
    for (std::size_t i = 0; i < sampler.batches_per_epoch(); ++i) {
        const auto batch = sampler.batch(epoch, i);
        all.insert(all.end(), batch.begin(), batch.end());
    }
    return all;
}

std::vector<std::uint32_t> sorted(std::vector<std::uint32_t> values) {
    std::ranges::sort(values);
    return values;
}

std::vector<std::uint32_t> first_numbers(std::size_t count) {
    std::vector<std::uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0U);
    return numbers;
}

TEST(Sampler, DisjointShardsShowEveryImageOnceAnEpoch) {
    for (const std::size_t images : {1U, 3U, 7U, 64U, 100U, 257U})
        for (const std::size_t batch : {1U, 4U, 32U, 1000U})
            for (const int workers : {1, 2, 3, 4, 8})
                for (const Order order : {Order::shuffle, Order::sequential})
                    for (const std::int64_t epoch : {0, 1, 7}) {
                        std::vector<std::uint32_t> seen;
                        std::vector<std::size_t> sizes;
                        for (int worker = 0; worker < workers; ++worker) {
                            Sampler sampler(
                                {images, batch, worker, workers, Shards::disjoint, order, 5});
                            const auto mine = epoch_of(sampler, epoch);
                            EXPECT_EQ(mine.size(), sampler.images_per_epoch());
                            sizes.push_back(mine.size());
                            seen.insert(seen.end(), mine.begin(), mine.end());
                        }
                        EXPECT_EQ(sorted(seen), first_numbers(images));
                        const auto [least, most] = std::ranges::minmax(sizes);
                        EXPECT_LE(most - least, 1U);
                    }
}

TEST(Sampler, BatchesAreFullButTheLastAndNeverEmpty) {
    for (const std::size_t images : {1U, 5U, 64U, 65U, 127U}) {
        Sampler sampler({images, 16, 0, 1, Shards::disjoint, Order::shuffle, 1});
        ASSERT_EQ(sampler.batches_per_epoch(), (images + 15) / 16);
        for (std::size_t i = 0; i < sampler.batches_per_epoch(); ++i)
            EXPECT_EQ(sampler.batch(0, i).size(), std::min<std::size_t>(16, images - i * 16));
    }
}

TEST(Sampler, MoreWorkersThanImagesLeaveSomeWithoutAny) {
    std::size_t idle = 0;
    for (int worker = 0; worker < 4; ++worker) {
        const Sampler sampler({3, 64, worker, 4, Shards::disjoint, Order::shuffle, 1});
        if (sampler.images_per_epoch() == 0) ++idle;
        EXPECT_EQ(sampler.batches_per_epoch(), sampler.images_per_epoch());
    }
    EXPECT_EQ(idle, 1U);
}

TEST(Sampler, FullShardsShowEverythingToEachWorkerInItsOwnOrder) {
    std::vector<std::vector<std::uint32_t>> orders;
    for (int worker = 0; worker < 3; ++worker) {
        Sampler sampler({50, 8, worker, 3, Shards::full, Order::shuffle, 1});
        orders.push_back(epoch_of(sampler, 2));
        EXPECT_EQ(sorted(orders.back()), first_numbers(50));
    }
    EXPECT_NE(orders[0], orders[1]);
    EXPECT_NE(orders[1], orders[2]);
}

TEST(Sampler, SequentialOrderIsThatOfTheFile) {
    Sampler whole({10, 3, 1, 2, Shards::full, Order::sequential, 1});
    EXPECT_EQ(epoch_of(whole, 4), first_numbers(10));
    Sampler part({7, 2, 1, 3, Shards::disjoint, Order::sequential, 1});
    EXPECT_EQ(epoch_of(part, 0), (std::vector<std::uint32_t>{1, 4}));
    EXPECT_EQ(epoch_of(part, 1), epoch_of(part, 0));
}

TEST(Sampler, OrderDependsOnSeedAndEpochAlone) {
    const auto order = [](std::uint64_t seed, std::int64_t epoch) {
        Sampler sampler({200, 32, 1, 4, Shards::disjoint, Order::shuffle, seed});
        return epoch_of(sampler, epoch);
    };
    EXPECT_EQ(order(1, 3), order(1, 3));
    EXPECT_NE(order(1, 3), order(2, 3));
    EXPECT_NE(order(1, 3), order(1, 4));

    Sampler wanders({200, 32, 1, 4, Shards::disjoint, Order::shuffle, 1});
    epoch_of(wanders, 9);
    epoch_of(wanders, 0);
    EXPECT_EQ(epoch_of(wanders, 3), order(1, 3));  // as after a resume
}

TEST(Sampler, RefusesAnEmptyBatch) {
    EXPECT_THROW(Sampler({10, 0, 0, 1, Shards::disjoint, Order::shuffle, 1}), Error);
}

}  // namespace
}  // namespace wasp
