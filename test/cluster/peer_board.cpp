// Boards: what is looked at is one publication as a whole.
#include "cluster/peer_board.hpp"

#include <algorithm>
#include <vector>

#include "support/on_ranks.hpp"

namespace wasp {
namespace {

using test::on_ranks;

TEST(RanksPeerBoard, ShowsThePublicationsThatAreThere) {
    on_ranks({1, 2, 4, 8}, [](Cluster& cluster) {
        constexpr std::size_t length = 5000;
        PeerBoard board(cluster, length);
        const int next = (cluster.rank() + 1) % cluster.size();
        std::vector<float> seen(length);
        EXPECT_FALSE(board.look(next, seen).has_value());
        EXPECT_FALSE(board.look(next, 0, seen).has_value());
        cluster.barrier();
        for (int number = 1; number <= 5; ++number)
            board.publish(10 * number, 0.5F * static_cast<float>(number),
                          std::vector<float>(length, static_cast<float>(number)));
        cluster.barrier();
        EXPECT_EQ(board.publications(next), 5);
        const auto newest = board.look(next, seen);
        ASSERT_TRUE(newest.has_value());
        EXPECT_EQ(newest->number, 5);
        EXPECT_EQ(newest->step, 50);
        EXPECT_EQ(newest->loss, 2.5F);
        EXPECT_EQ(seen, std::vector<float>(length, 5.0F));
        for (const std::int64_t number : {1, 2, 3, 4, 5, 6}) {
            const auto one = board.look(next, number, seen);
            EXPECT_EQ(one.has_value(), number >= 3 && number <= 5) << number;
            if (!one) continue;
            EXPECT_EQ(seen, std::vector<float>(length, static_cast<float>(number)));
        }
        cluster.barrier();
    });
}

TEST(RanksPeerBoard, NoLookIsTornWhileOthersPublish) {
    on_ranks({2, 4, 8}, [](Cluster& cluster) {
        constexpr std::size_t length = 3 * Window::block + 17;
        constexpr int publications = 100;
        PeerBoard board(cluster, length);
        std::vector<float> model(length);
        std::vector<float> seen(length);
        const int next = (cluster.rank() + 1) % cluster.size();
        std::int64_t last = 0;
        for (int number = 1; number <= publications; ++number) {
            std::ranges::fill(model, static_cast<float>(number));
            board.publish(number, static_cast<float>(number), model);
            const auto look = board.look(next, seen);
            if (!look) continue;
            EXPECT_GE(look->number, last);
            last = look->number;
            ASSERT_EQ(look->step, look->number);
            ASSERT_EQ(look->loss, static_cast<float>(look->number));
            ASSERT_EQ(std::ranges::count(seen, static_cast<float>(look->number)),
                      static_cast<std::ptrdiff_t>(length));
        }
        cluster.barrier();
    });
}

}  // namespace
}  // namespace wasp
