// What lies in windows lies in MPI windows: MPI reads what loads and stores wrote, on any number of
// nodes, whether or not lengths are multiples of what the MPI library likes.
#include "../../src/cluster/mpi_window.hpp"

#include <memory>
#include <vector>

#include "support/on_ranks.hpp"

namespace wasp {
namespace {

TEST(RanksMpiWindow, MpiReadsWhatLoadsAndStoresWrote) {
    if (test::world == nullptr) GTEST_SKIP() << "needs MPI";
    Cluster& cluster = *test::world;
    const auto value = [](int rank, std::size_t i) {
        return static_cast<float>(1000 * (rank + 1)) + static_cast<float>(i % 997);
    };
    for (const std::size_t least : {1, 5, 4095, 61'706, 300'001}) {
        // Lengths differ, and those of two ranks are never both multiples of 16 bytes.
        const auto length_of = [&](int rank) { return least + static_cast<std::size_t>(rank); };
        const auto made = cluster.make_window(length_of(cluster.rank()));
        auto& window = dynamic_cast<MpiWindow&>(*made);
        std::vector<float> mine(length_of(cluster.rank()));
        for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = value(cluster.rank(), i);
        window.put(cluster.rank(), 0, mine);
        cluster.barrier();
        for (int rank = 0; rank < cluster.size(); ++rank) {
            std::vector<float> seen(length_of(rank));
            window.get_by_mpi(rank, 0, seen);
            for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], value(rank, i));
            window.get_by_mpi(rank, least / 2, std::span(seen).first(1));
            EXPECT_EQ(seen[0], value(rank, least / 2));
        }
        EXPECT_ANY_THROW(window.get_by_mpi(cluster.rank(), 1, mine));
        cluster.barrier();
    }
}

TEST(RanksMpiWindow, WindowsThatWereMadeBeforeLeaveNothingBehind) {
    if (test::world == nullptr) GTEST_SKIP() << "needs MPI";
    Cluster& cluster = *test::world;
    const int next = (cluster.rank() + 1) % cluster.size();
    for (const std::size_t length : {3, 5000, 200, 400'000, 7}) {
        const auto kept = cluster.make_window(length);
        const auto counters = cluster.make_counters(3);
        for (int round = 0; round < 3; ++round) {
            const auto window = cluster.make_window(length);
            std::vector<float> seen(length, 1.0F);
            window->get(next, 0, seen);
            ASSERT_EQ(seen, std::vector<float>(length)) << length << ", round " << round;
            window->add(next, 0, 1.0F, std::vector<float>(length, 2.0F));
        }
        counters->fetch_add(next, 1, 1);
        cluster.barrier();
        std::vector<float> seen(length, 1.0F);
        kept->get(next, 0, seen);
        ASSERT_EQ(seen, std::vector<float>(length));
        std::vector<std::int64_t> counts(3);
        counters->read(next, 0, counts);
        EXPECT_EQ(counts, (std::vector<std::int64_t>{0, 1, 0}));
        cluster.barrier();
    }
}

}  // namespace
}  // namespace wasp
