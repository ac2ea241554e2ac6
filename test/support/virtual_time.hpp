/// Ranks in virtual time: computing takes as long as the test says, all else takes none. One rank
/// runs at a time, the one whose moment comes next, so that a run is the same each time and its
/// waits are exact.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "cluster/forwarding.hpp"

namespace wasp::test {

/// Whose moment it is. What returns only when it is the rank's throws when others have failed, or
/// wait for one another.
class Timetable {
public:
    explicit Timetable(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {}

    double now();
    void compute(Cluster& rank, double seconds);
    void wait(Cluster& rank);
    void something_changed();  ///< all who wait are to look again

    void meet(Cluster& rank);  ///< returns at all ranks before anyone gets on: not in turn any more
    void come_back(Cluster& rank);
    void leave(Cluster& rank);  ///< for good

private:
    enum class State { meeting, running, ready, waiting, gone };
    struct Rank {
        State state = State::meeting;
        double moment = 0;          // when it is ready
        std::int64_t seen = 0;      // changes, when it last looked
        std::int64_t meetings = 0;  // that it has come to
        std::condition_variable chosen;
    };

    Rank& row(Cluster& rank) { return ranks_[static_cast<std::size_t>(rank.rank())]; }
    void await_turn(std::unique_lock<std::mutex>& lock, Cluster& rank);
    void choose_next();
    Rank* next();

    std::mutex mutex_;
    std::vector<Rank> ranks_;
    double now_ = 0;
    std::int64_t changes_ = 0;
    bool stuck_ = false;
};

class VirtualCluster final : public ForwardingCluster {
public:
    VirtualCluster(Cluster& real, Timetable& timetable)
        : ForwardingCluster(real), timetable_(timetable) {
        timetable_.come_back(real);
    }
    ~VirtualCluster() override { timetable_.leave(inner()); }
    VirtualCluster(const VirtualCluster&) = delete;
    VirtualCluster& operator=(const VirtualCluster&) = delete;

    void spend(double seconds) { timetable_.compute(inner(), seconds); }

    double seconds() const override { return timetable_.now(); }
    void yield(double /*waited_seconds*/) override { timetable_.wait(inner()); }

    void barrier() override;
    void sum(std::span<float> values) override;
    void sum(std::span<double> values) override;
    void broadcast(std::span<std::byte> bytes, int root) override;
    std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes, int root) override;
    std::unique_ptr<Window> make_window(std::size_t length) override;
    std::unique_ptr<Counters> make_counters(std::size_t count) override;
    std::unique_ptr<NodeMemory> make_node_memory(std::size_t bytes) override;

private:
    template <class Call>
    auto together(Call call);

    Timetable& timetable_;
};

/// As run_on_threads().
void run_in_virtual_time(int ranks, const std::function<void(VirtualCluster&)>& body);

}  // namespace wasp::test
