// Windows and counters: what is written arrives, exactly once, where it should and nowhere else.
#include <numeric>
#include <vector>

#include "support/on_ranks.hpp"

namespace wasp {
namespace {

using test::on_ranks;

// Between nodes a change takes round trips, which are slow where ranks outnumber cores.
std::vector<std::size_t> odd_lengths(const Place& place) {
    std::vector<std::size_t> lengths(place.nodes == 1 ? 70 : 5);
    std::iota(lengths.begin(), lengths.end(), 1);
    for (const std::size_t more : {4095, 4096, 4097, 8193, 61'706}) lengths.push_back(more);
    return lengths;
}

std::vector<float> read_all(Window& window, int rank, std::size_t length) {
    std::vector<float> values(length);
    window.get(rank, 0, values);
    return values;
}

TEST(RanksWindow, NoUpdateIsLostOrStraysToANeighbour) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        constexpr int rounds = 3;
        const int size = cluster.size();
        for (const std::size_t length : odd_lengths(cluster.place())) {
            const auto left = cluster.make_window(length);
            const auto window = cluster.make_window(length);
            const auto right = cluster.make_window(length);
            const std::vector<float> mine(length, static_cast<float>(cluster.rank() + 1));
            for (int round = 0; round < rounds; ++round)
                for (int rank = 0; rank < size; ++rank)
                    window->add((cluster.rank() + rank) % size, 0, 2.0F, mine);
            cluster.barrier();
            // Whole numbers below 2^24: sums of floats are exact, in any order.
            const auto expected = static_cast<float>(rounds * size * (size + 1));
            for (int rank = 0; rank < size; ++rank) {
                ASSERT_EQ(read_all(*window, rank, length), std::vector<float>(length, expected))
                    << length << " floats on rank " << rank;
                ASSERT_EQ(read_all(*left, rank, length), std::vector<float>(length, 0.0F));
                ASSERT_EQ(read_all(*right, rank, length), std::vector<float>(length, 0.0F));
            }
            cluster.barrier();
        }
    });
}

TEST(RanksWindow, PutAndGetReachEveryOffset) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        constexpr std::size_t length = 2 * Window::block + 5;
        const auto window = cluster.make_window(length);
        const int next = (cluster.rank() + 1) % cluster.size();
        std::vector<float> expected(length, 0.0F);
        for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, Window::block - 1,
                                         Window::block, Window::block + 3, length - 7}) {
            const std::vector<float> piece(7, static_cast<float>(offset + 1));
            window->put(next, offset, piece);
            std::ranges::copy(piece, expected.begin() + static_cast<std::ptrdiff_t>(offset));
            std::vector<float> back(7);
            window->get(next, offset, back);
            EXPECT_EQ(back, piece);
        }
        cluster.barrier();
        EXPECT_EQ(read_all(*window, cluster.rank(), length), expected);
        EXPECT_ANY_THROW(window->put(next, length - 6, std::vector<float>(7)));
        cluster.barrier();
    });
}

// More than an outbox holds, and from all ranks at once.
TEST(RanksWindow, LargePushesArriveWhole) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        constexpr std::size_t length = 1'100'003;
        const int owner = cluster.size() - 1;
        const auto window = cluster.make_window(cluster.rank() == owner ? length : 0);
        std::vector<float> update(length);
        for (std::size_t i = 0; i < length; ++i) update[i] = static_cast<float>(i % 8191);
        window->add(owner, 0, static_cast<float>(cluster.rank() + 1), update);
        cluster.barrier();
        if (cluster.rank() == 0) {
            const auto seen = read_all(*window, owner, length);
            const auto all = static_cast<float>(cluster.size() * (cluster.size() + 1) / 2);
            for (std::size_t i = 0; i < length; ++i) ASSERT_EQ(seen[i], all * update[i]) << i;
        }
        cluster.barrier();
    });
}

// Rank 0 never waits: its polls alone must let the others get what they want of it.
TEST(RanksWindow, OthersGetOnWhileTheOwnerComputesAndPolls) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        constexpr std::size_t length = 70'001;
        const bool owner = cluster.rank() == 0;
        const auto window = cluster.make_window(owner ? length : 0);
        const auto counters = cluster.make_counters(1);
        std::vector<float> floats(length, 1.0F);
        if (!owner) {
            window->add(0, 0, 1.0F, floats);
            window->get(0, 0, floats);
            for (const float value : floats) ASSERT_GE(value, 1.0F);
            counters->fetch_add(0, 0, 1);
        }
        const double start = cluster.seconds();
        double result = 1;
        while (owner && counters->read(0, 0) < cluster.size() - 1) {
            for (int i = 0; i < 20'000; ++i) result = result * 1.0000001 + 1e-9;
            cluster.poll();
            ASSERT_LT(cluster.seconds() - start, cluster.stall_seconds()) << result;
        }
        cluster.barrier();
        EXPECT_EQ(read_all(*window, 0, length),
                  std::vector<float>(length, static_cast<float>(cluster.size() - 1)));
        cluster.barrier();
    });
}

TEST(RanksCounters, CountExactly) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        constexpr int turns = 200;
        const auto counters = cluster.make_counters(3);
        std::vector<bool> seen(static_cast<std::size_t>(turns * cluster.size()));
        std::int64_t before = -1;
        for (int turn = 0; turn < turns; ++turn) {
            const std::int64_t ticket = counters->fetch_add(0, 1, 1);
            EXPECT_GT(ticket, before);
            before = ticket;
        }
        counters->fetch_add(cluster.rank(), 2, -5);
        cluster.barrier();
        EXPECT_EQ(counters->read(0, 1), turns * cluster.size());
        std::vector<std::int64_t> all(3);
        for (int rank = 0; rank < cluster.size(); ++rank) {
            counters->read(rank, 0, all);
            EXPECT_EQ(all,
                      (std::vector<std::int64_t>{0, rank == 0 ? turns * cluster.size() : 0, -5}));
        }
        EXPECT_ANY_THROW(counters->read(0, 3));
        cluster.barrier();
    });
}

}  // namespace
}  // namespace wasp
