// Barrier, sum, broadcast, gather, collectively(), wait_until(): right for every size, and never a
// hang.
#include <atomic>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "base/error.hpp"
#include "support/on_ranks.hpp"

namespace wasp {
namespace {

using test::on_ranks;

const std::vector<std::size_t> lengths = {0, 1, 3, 17, 1000, 61'706, 300'001};

template <class T>
void sums_are_right(Cluster& cluster) {
    const int size = cluster.size();
    for (const std::size_t length : lengths) {
        std::vector<T> values(length);
        for (std::size_t i = 0; i < length; ++i)
            values[i] = static_cast<T>(i % 100) + static_cast<T>(cluster.rank());
        cluster.sum(values);
        for (std::size_t i = 0; i < length; ++i)
            ASSERT_EQ(values[i],
                      static_cast<T>(static_cast<int>(i % 100) * size + size * (size - 1) / 2));
    }
}

TEST(RanksCollectives, SumsAreRight) {
    on_ranks({1, 2, 3, 4, 8}, [](Cluster& cluster) {
        sums_are_right<float>(cluster);
        sums_are_right<double>(cluster);
    });
}

TEST(RanksCollectives, SumsAreTakenInTheOrderOfRanks) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        if (cluster.place().nodes > 1) return;
        constexpr std::size_t length = 150'001;
        const auto value = [](std::size_t i, int rank) {
            return 1.0F / static_cast<float>(i % 1009 + 1 + static_cast<std::size_t>(rank) * 13);
        };
        std::vector<float> values(length);
        for (std::size_t i = 0; i < length; ++i) values[i] = value(i, cluster.rank());
        cluster.sum(values);
        for (std::size_t i = 0; i < length; ++i) {
            float expected = value(i, 0);
            for (int rank = 1; rank < cluster.size(); ++rank) expected += value(i, rank);
            ASSERT_EQ(values[i], expected) << i;
        }
    });
}

TEST(RanksCollectives, BroadcastGivesEveryoneTheBytesOfRoot) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        for (const std::size_t length : lengths)
            for (const int root : {0, cluster.size() - 1}) {
                std::vector<std::byte> expected(length);
                for (std::size_t i = 0; i < length; ++i)
                    expected[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(root));
                std::vector<std::byte> bytes(length);
                if (cluster.rank() == root) bytes = expected;
                cluster.broadcast(bytes, root);
                ASSERT_EQ(bytes, expected);
            }
    });
}

TEST(RanksCollectives, MixedOnesDoNotMeetInTheirMemory) {
    on_ranks({2, 4, 8}, [](Cluster& cluster) {
        for (int round = 0; round < 50; ++round) {
            std::vector<float> values(500, 1.0F);
            cluster.sum(values);
            std::vector<float> letter(500, static_cast<float>(cluster.rank() + round));
            const int root = round % cluster.size();
            cluster.broadcast(std::as_writable_bytes(std::span(letter)), root);
            ASSERT_EQ(values, std::vector<float>(500, static_cast<float>(cluster.size())));
            ASSERT_EQ(letter, std::vector<float>(500, static_cast<float>(root + round)));
        }
    });
}

TEST(RanksCollectives, GatherKeepsRanksAndSizes) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        const auto letter = [](int rank) {
            return std::vector<std::byte>(static_cast<std::size_t>(rank % 3) * 1001,
                                          static_cast<std::byte>(rank + 1));
        };
        for (const int root : {0, cluster.size() - 1}) {
            const auto letters = cluster.gather(letter(cluster.rank()), root);
            ASSERT_EQ(letters.size(),
                      cluster.rank() == root ? static_cast<std::size_t>(cluster.size()) : 0U);
            for (std::size_t i = 0; i < letters.size(); ++i)
                EXPECT_EQ(letters[i], letter(static_cast<int>(i)));
        }
    });
}

TEST(RanksCollectives, NodeMemoryShowsEveryoneWhatTheFirstWrote) {
    on_ranks({1, 2, 4}, [](Cluster& cluster) {
        const bool writer = cluster.place().rank_on_node == 0;
        const auto memory = cluster.make_node_memory(writer ? 100'003 : 0);
        ASSERT_EQ(memory->bytes().size(), 100'003U);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->bytes().data()) % 64, 0U);
        if (writer) std::memset(memory->bytes().data(), 7, memory->bytes().size());
        cluster.barrier();
        for (const std::byte byte : memory->bytes()) ASSERT_EQ(byte, std::byte{7});
        cluster.barrier();
    });
}

TEST(RanksCollectives, AnErrorOfOneRankReachesAll) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        collectively(cluster, [] {});
        const int guilty = cluster.size() / 2;
        try {
            collectively(cluster, [&] {
                REQUIRE(cluster.rank() < guilty, "rank {} has no file", cluster.rank());
            });
            ADD_FAILURE() << "no error";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::usage);
            EXPECT_EQ(error.what(), fmt::format("rank {} has no file", guilty));
        }
        cluster.barrier();
    });
}

TEST(Threads, AWaitThatIsTooLongNamesTheMissing) {
    std::atomic<int> gave_up{0};
    run_on_threads(4, [&](Cluster& cluster) {
        if (cluster.rank() == 1 || cluster.rank() == 2)
            return wait_until(
                cluster, [&] { return gave_up == 2; }, [] { return std::string("the others"); });
        cluster.set_stall_seconds(0.02);
        try {
            cluster.barrier();
            ADD_FAILURE() << "nobody was missing";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::fault);
            EXPECT_STREQ(error.what(),
                         "waited 0.02 s for ranks 1, 2 to come to a collective operation");
        }
        ++gave_up;
    });
}

TEST(Threads, AnErrorOfOneRankWakesTheOthersAndComesOut) {
    for (const int guilty : {0, 1, 3}) try {
            run_on_threads(4, [&](Cluster& cluster) {
                cluster.barrier();
                if (cluster.rank() == guilty) throw std::out_of_range("the real one");
                cluster.barrier();
            });
            ADD_FAILURE() << "no error";
        } catch (const std::out_of_range& error) {
            EXPECT_STREQ(error.what(), "the real one");
        }
}

}  // namespace
}  // namespace wasp
