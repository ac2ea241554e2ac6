#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/aligned.hpp"
#include "base/stopwatch.hpp"
#include "examination.hpp"
#include "rate.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

constexpr std::size_t floats = std::size_t{1} << 18U;  // 1 MiB a call

/// Whom a rank talks to: the next rank of its node, and one of the next node; itself if there is
/// none.
struct Partners {
    int near = 0, far = 0;
    bool several_on_nodes = false;
};

Partners find_partners(Cluster& cluster) {
    const Place& me = cluster.place();
    std::vector<double> nodes(static_cast<std::size_t>(cluster.size()));
    nodes[static_cast<std::size_t>(me.rank)] = me.node;
    cluster.sum(nodes);
    const auto next = [&](int node, int after) {
        const int ranks = cluster.size();
        for (int i = 1; i <= ranks; ++i) {
            const int rank = (after + i) % ranks;
            if (nodes[static_cast<std::size_t>(rank)] == node) return rank;
        }
        return after;
    };
    return {next(me.node, me.rank), next((me.node + 1) % me.nodes, me.rank), me.ranks > me.nodes};
}

/// All ranks add 1 to the same floats, and read them meanwhile. What must be there in the end is
/// known, and a block never holds two values at a time for who is on its node.
void test_updates(Cluster& cluster, Examination& result) {
    constexpr int additions = 200, holder = 0;
    const auto window = cluster.make_window(cluster.rank() == holder ? Window::block : 0);
    AlignedFloats ones(Window::block, 1.0F), seen(Window::block);
    const bool on_node_of_holder = cluster.place().node == 0;
    std::array<double, 2> lost_and_torn{};
    cluster.barrier();
    for (int i = 0; i < additions; ++i) {
        window->add(holder, 0, 1, ones);
        if (!on_node_of_holder) continue;
        window->get(holder, 0, seen);
        if (std::ranges::any_of(seen, [&](float x) { return x != seen.front(); }))
            ++lost_and_torn[1];
    }
    cluster.barrier();
    window->get(holder, 0, seen);
    const auto all = static_cast<float>(additions * cluster.size());
    lost_and_torn[0] = std::ranges::count_if(seen, [&](float x) { return x != all; }) > 0 ? 1 : 0;
    cluster.sum(lost_and_torn);
    result.seen.push_back(fmt::format("updates: {} of {} ranks at the same 16 KiB: {}, {}",
                                      additions * cluster.size(), cluster.size(),
                                      lost_and_torn[0] > 0 ? "some are LOST" : "none is lost",
                                      lost_and_torn[1] > 0 ? "some are TORN" : "none is torn"));
    if (lost_and_torn[0] + lost_and_torn[1] > 0)
        result.bad.emplace_back(
            "one-sided calls lose or tear updates: this MPI library does not do what it says");
    cluster.barrier();
}

/// Rank 0 computes, and polls as training does between layers; the last rank asks it for a number.
void time_answers(Cluster& cluster, double seconds, Examination& result) {
    constexpr int asked = 0;
    const auto counters = cluster.make_counters(2);
    enum : std::size_t { number, enough };
    std::vector<double> waits;
    AlignedFloats x(floats), y(floats);
    cluster.barrier();
    const Stopwatch watch;
    if (cluster.rank() == cluster.size() - 1) {
        while (watch.seconds() < seconds) {
            const Stopwatch answer;
            counters->fetch_add(asked, number, 1);
            waits.push_back(answer.seconds());
        }
        counters->fetch_add(asked, enough, 1);
        std::ranges::nth_element(waits,
                                 waits.begin() + static_cast<std::ptrdiff_t>(waits.size() / 2));
    } else if (cluster.rank() == asked) {
        while (counters->read(asked, enough) == 0) {
            axpy(1e-3F, x, y);
            cluster.poll();
        }
    }
    double median = waits.empty() ? 0 : waits[waits.size() / 2];
    cluster.sum({&median, 1});
    constexpr double milli = 1e-3;
    result.seen.push_back(
        fmt::format("a computing rank answers another after {:.3f} ms (median)", median / milli));
    constexpr double slow = 20e-3;
    if (median > slow)
        result.advice.push_back(fmt::format(
            "a computing rank answers after {:.0f} ms: do ranks wait for cores?", median / milli));
}

void say_rates(std::string_view what, double reads, double adds, Examination& result) {
    result.seen.push_back(
        fmt::format("{:<34} {:>8.3f} {:>8.3f}  GB/s of all ranks together", what, reads, adds));
}

/// Copies and sums in each rank's own memory.
void measure_memory(Cluster& cluster, double seconds, Examination& result) {
    constexpr std::size_t beyond_caches = std::size_t{1} << 22U;  // 16 MiB
    AlignedFloats mine(beyond_caches), other(beyond_caches, 1.0F);
    result.seen.emplace_back("                                       read      add");
    const double copies = rate(cluster, beyond_caches, seconds, [&] { copy(other, mine); });
    const double sums = rate(cluster, beyond_caches, seconds, [&] { axpy(1e-3F, other, mine); });
    say_rates("own memory, 16 MiB", copies, sums, result);
}

void measure_windows(Cluster& cluster, double seconds, Examination& result) {
    const Partners partners = find_partners(cluster);
    const Place& me = cluster.place();
    AlignedFloats mine(floats), other(floats, 1.0F);
    const auto window = cluster.make_window(floats);
    const auto measure = [&](std::string_view what, int partner) {
        const double reads = rate(cluster, floats, seconds, [&] { window->get(partner, 0, mine); });
        const double adds =
            rate(cluster, floats, seconds, [&] { window->add(partner, 0, 1e-3F, other); });
        cluster.barrier();
        say_rates(what, reads, adds, result);
    };
    if (partners.several_on_nodes) measure("1 MiB of a rank of the same node", partners.near);
    if (me.nodes > 1) measure("1 MiB of a rank of another node", partners.far);
}

}  // namespace

Examination examine_traffic(Cluster& cluster, double seconds) {
    Examination result;
    if (cluster.size() > 1) {
        test_updates(cluster, result);
        time_answers(cluster, seconds, result);
    }
    measure_memory(cluster, seconds, result);
    measure_windows(cluster, seconds, result);
    return cluster.rank() == 0 ? result : Examination{};
}

}  // namespace wasp
