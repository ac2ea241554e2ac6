// All ranks of a run come to stand between the same two steps, and none waits for ever.
#include "../../src/app/cut.hpp"

#include "cluster/clocks.hpp"
#include "support/on_ranks.hpp"

namespace wasp {
namespace {

using test::on_ranks;

/// Sums of all ranks' `value`.
double sum_of(Cluster& cluster, double value) {
    cluster.sum(std::span(&value, 1));
    return value;
}

TEST(RanksCut, AllStandAtTheSameStepWhereverTheyWere) {
    on_ranks({1, 2, 4}, [](Cluster& cluster) {
        constexpr std::int64_t steps = 200, lead = 3;
        Cut cut(cluster, 0);
        Clocks clocks(cluster);
        int cuts = 0;
        for (std::int64_t step = 0; step < steps; ++step) {
            if (cut.reached(step)) {
                ++cuts;
                const auto here = static_cast<double>(step);
                EXPECT_EQ(sum_of(cluster, here), here * cluster.size());
                EXPECT_EQ(clocks.mine(), step);
                EXPECT_EQ(clocks.slowest(), step);
                cluster.barrier();
            }
            clocks.tick();
            clocks.wait_for_slowest(clocks.mine() - lead);  // as SSP's gate: others must go on
            if (cluster.rank() == 0 && step % 20 == 5 && !cut.wanted()) cut.want(false);
        }
        cut.end();
        clocks.retire();
        cluster.barrier();
        EXPECT_EQ(sum_of(cluster, cuts), cuts * cluster.size());
        if (cluster.size() == 1) {
            EXPECT_EQ(cuts, 10);
        }
    });
}

// The first worker is quick, and asked to stop: the others have hardly left the cut before.
TEST(RanksCut, TheNextOneBeingTheLastDoesNotMakeThisOneTheLast) {
    on_ranks({1, 2, 4}, [](Cluster& cluster) {
        Cut cut(cluster, 0);
        if (cluster.rank() == 0) cut.want(false);
        cluster.barrier();
        EXPECT_TRUE(cut.reached(0));
        if (cluster.rank() == 0) cut.want(true);
        cluster.barrier();
        EXPECT_FALSE(cut.is_the_end());
        EXPECT_TRUE(cut.reached(1));
        EXPECT_TRUE(cut.is_the_end());
        cluster.barrier();
    });
}

TEST(RanksCut, IsGivenUpWhenAWorkerDoesNotComeAnyMore) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        Cut cut(cluster, 0);
        if (cluster.rank() == 1) cut.end();
        cluster.barrier();
        EXPECT_FALSE(cut.possible());
        if (cluster.rank() == 0) cut.want(true);
        cluster.barrier();
        if (cluster.rank() != 1) {
            EXPECT_FALSE(cut.reached(0));
            EXPECT_FALSE(cut.reached(1));
        }
        cluster.barrier();
    });
}

TEST(RanksCut, ServersComeToItToo) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        constexpr std::int64_t steps = 10;
        Cut cut(cluster, 1);
        int cuts = 0;
        const auto at_the_cut = [&] {
            ++cuts;
            cluster.barrier();
        };
        if (cluster.rank() == 0) {
            while (cut.attend([] {})) at_the_cut();
        } else {
            for (std::int64_t step = 0; step < steps; ++step) {
                if (cut.reached(step)) at_the_cut();
                if (cluster.rank() == 1 && step == 2) cut.want(false);
            }
            cut.end();
        }
        cluster.barrier();
        EXPECT_EQ(sum_of(cluster, cuts), cuts * cluster.size());
    });
}

TEST(RanksCut, GoesOnAmongThoseThatHaveNotRetired) {
    on_ranks({2, 4}, [](Cluster& cluster) {
        constexpr std::int64_t steps = 40;
        Cut cut(cluster, 0);
        const std::int64_t mine = cluster.rank() == 0 ? 3 : steps * cluster.rank();
        int cuts = 0, cuts_before = 0;
        const auto at_the_cut = [&] {
            ++cuts;
            cluster.barrier();
        };
        for (std::int64_t step = 0; step < mine; ++step)
            if (cut.reached(step)) at_the_cut();
        cuts_before = cuts;
        cut.retire();
        const auto ask = [&] {
            if (cluster.rank() == 0 && cuts < 5 && !cut.wanted()) cut.want(false);
        };
        while (cut.attend(ask)) at_the_cut();
        cluster.barrier();
        EXPECT_EQ(sum_of(cluster, cuts), cuts * cluster.size());
        if (cluster.rank() == 0) {
            EXPECT_EQ(cuts_before, 0);  // who asks is the first to retire
        }
    });
}

// Groups of different lengths, as between two synchronisations that others bring about.
TEST(RanksCut, StandsAtPlacesThatAreNoSteps) {
    on_ranks({1, 2, 4}, [](Cluster& cluster) {
        constexpr std::int64_t places = 50;
        Cut cut(cluster, 0);
        Clocks meetings(cluster);
        int cuts = 0;
        for (std::int64_t place = 0; place < places; ++place) {
            for (int step = 0; step <= cluster.rank(); ++step) {
                if (!cut.reached(place)) continue;
                ++cuts;
                EXPECT_EQ(step, 0);
                EXPECT_EQ(sum_of(cluster, static_cast<double>(place)),
                          static_cast<double>(place) * cluster.size());
                cluster.barrier();
            }
            meetings.tick();
            meetings.wait_for_slowest(meetings.mine());
            if (cluster.rank() == 0 && place % 7 == 3 && !cut.wanted()) cut.want(false);
        }
        cut.end();
        cluster.barrier();
        EXPECT_EQ(sum_of(cluster, cuts), cuts * cluster.size());
    });
}

}  // namespace
}  // namespace wasp
