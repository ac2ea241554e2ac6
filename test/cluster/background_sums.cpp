// Sums that get on between the layers: the bits of Cluster::sum(), whoever comes when.
#include <atomic>
#include <deque>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "support/on_ranks.hpp"

namespace wasp {
namespace {

using test::on_ranks;

constexpr std::size_t largest = 100'003;

std::vector<float> values_of(int rank, int number, std::size_t length) {
    RandomStream random(static_cast<std::uint64_t>(number), "sums", rank);
    std::vector<float> values(length);
    for (float& value : values) value = static_cast<float>(random.uniform(-1, 1));
    return values;
}

TEST(RanksBackgroundSums, HaveTheBitsOfSum) {
    on_ranks({1, 2, 3, 4, 8}, [](Cluster& cluster) {
        const auto sums = cluster.make_background_sums(largest);
        int number = 0;
        for (int round = 0; round < 3; ++round) {
            std::deque<std::vector<float>> started, expected;
            for (const std::size_t length :
                 {std::size_t{1}, largest, std::size_t{0}, std::size_t{17}, std::size_t{1000},
                  largest - 1, std::size_t{50'000}, std::size_t{3}, std::size_t{4096}}) {
                started.push_back(values_of(cluster.rank(), ++number, length));
                expected.push_back(started.back());
                sums->start(started.back());
                // Ranks get on at different paces.
                for (int i = 0; i < (cluster.rank() * 5 + number) % 7; ++i) sums->advance();
            }
            sums->finish();
            for (std::size_t i = 0; i < started.size(); ++i) {
                cluster.sum(expected[i]);
                ASSERT_EQ(started[i], expected[i]) << "sum " << i;
            }
        }
    });
}

TEST(RanksBackgroundSums, LetOtherCollectiveOperationsBy) {
    on_ranks({1, 2, 4}, [](Cluster& cluster) {
        const auto sums = cluster.make_background_sums(largest);
        std::vector<float> one(largest, 1.0F), two(largest, 2.0F), other(500, 3.0F);
        sums->start(one);
        cluster.sum(other);
        sums->start(two);
        cluster.barrier();
        sums->finish();
        const auto size = static_cast<float>(cluster.size());
        EXPECT_EQ(one, std::vector<float>(largest, size));
        EXPECT_EQ(two, std::vector<float>(largest, 2 * size));
        EXPECT_EQ(other, std::vector<float>(500, 3 * size));
    });
}

TEST(Threads, AMissingRankOfABackgroundSumIsNamed) {
    std::atomic<int> gave_up{0};
    run_on_threads(3, [&](Cluster& cluster) {
        const auto sums = cluster.make_background_sums(largest);
        std::vector<float> values(10);
        if (cluster.rank() == 1)
            return wait_until(
                cluster, [&] { return gave_up == 2; }, [] { return std::string("the others"); });
        cluster.set_stall_seconds(0.02);
        sums->start(values);
        try {
            sums->finish();
            ADD_FAILURE() << "nobody was missing";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::fault);
            EXPECT_STREQ(error.what(), "waited 0.02 s for rank 1 to add up a part of the gradient");
        }
        ++gave_up;
    });
}

}  // namespace
}  // namespace wasp
