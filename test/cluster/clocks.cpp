#include "cluster/clocks.hpp"

#include "base/error.hpp"
#include "support/on_ranks.hpp"

namespace wasp {
namespace {

using test::on_ranks;

TEST(RanksClocks, GateHoldsTheFastBackUntilTheSlowestFollows) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        constexpr int steps = 30;
        constexpr std::int64_t bound = 2;
        Clocks clocks(cluster);
        for (int step = 0; step < steps; ++step) {
            clocks.tick();
            clocks.wait_for_slowest(clocks.mine() - bound);
            EXPECT_GE(clocks.slowest(), clocks.mine() - bound);
        }
        EXPECT_EQ(clocks.mine(), steps);
        clocks.retire();
        clocks.retire();  // once more changes nothing
        EXPECT_TRUE(clocks.retired(cluster.rank()));
        clocks.wait_for_all_retired();
        EXPECT_GT(clocks.slowest(), std::int64_t{1} << 60);
        cluster.barrier();
    });
}

TEST(RanksClocks, NobodyWaitsForServersOrForTheRetired) {
    on_ranks({2, 4, 8}, [](Cluster& cluster) {
        Clocks clocks(cluster, 1);
        const int last = cluster.size() - 1;
        if (cluster.rank() == last) {
            clocks.retire();
        } else if (cluster.rank() > 0) {
            clocks.tick();
            clocks.tick();
            clocks.wait_for_slowest(2);
            clocks.retire();
        }
        clocks.wait_for_all_retired();
        EXPECT_FALSE(clocks.retired(0));
        cluster.barrier();
    });
}

TEST(RanksClocks, TheLateAreNamed) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        Clocks clocks(cluster);
        if (cluster.rank() != 1) clocks.tick();
        cluster.barrier();
        const double usual = cluster.stall_seconds();
        cluster.set_stall_seconds(0.02);
        try {
            clocks.wait_for_slowest(1);
            ADD_FAILURE() << "nobody was late";
        } catch (const Error& error) {
            EXPECT_STREQ(error.what(), "waited 0.02 s for rank 1 (at 0) to reach clock 1");
        }
        cluster.set_stall_seconds(usual);
        cluster.barrier();
    });
}

TEST(RanksClocks, WhoGetsOnIsNotLate) {
    on_ranks({1, 2, 4}, [](Cluster& cluster) {
        Clocks clocks(cluster);
        const double usual = cluster.stall_seconds();
        cluster.set_stall_seconds(0.002);
        std::int64_t looks = 0;
        // Ten stalls pass, and at each one something has moved.
        wait_until(
            cluster, [&] { return looks >= 10; }, [] { return "nobody"; }, [&] { return looks++; });
        cluster.set_stall_seconds(usual);
        EXPECT_GE(looks, 10);
        cluster.barrier();
    });
}

}  // namespace
}  // namespace wasp
