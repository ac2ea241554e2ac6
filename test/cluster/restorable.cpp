// What lies in windows and counters comes back, on every rank, whatever has been done since.
#include "cluster/restorable.hpp"

#include "support/on_ranks.hpp"

namespace wasp {
namespace {

using test::on_ranks;

TEST(RanksRestorable, WindowsAndCountersComeBack) {
    on_ranks({1, 2, 4}, [](Cluster& ranks) {
        RestorableCluster cluster(ranks);
        const int me = cluster.rank();
        const std::size_t length = 5000 + 10 * static_cast<std::size_t>(me);
        const auto window = cluster.make_window(length);
        { const auto short_lived = cluster.make_counters(3); }
        const auto counters = cluster.make_counters(2);
        const int next = (me + 1) % cluster.size();
        const std::vector<float> ones(100, 1.0F);
        const auto change = [&](float scale) {
            window->add(next, 4050, scale, ones);  // across the border of two blocks
            counters->fetch_add(next, 1, 5);
            cluster.barrier();
        };
        const auto look = [&] {
            std::vector<float> values(length);
            window->get(me, 0, values);
            return std::pair{values, counters->read(me, 1)};
        };
        change(2);
        StateWriter writer;
        cluster.visit(writer);
        const auto before = look();
        cluster.barrier();
        change(3);
        EXPECT_NE(look(), before);
        cluster.barrier();
        StateReader reader(writer.bytes(), "here");
        cluster.visit(reader);
        reader.done();
        EXPECT_EQ(look(), before);
        EXPECT_EQ(before.second, 5);
        cluster.barrier();
    });
}

}  // namespace
}  // namespace wasp
