/// A barrier of the workers that have not retired.
#pragma once

#include "cluster/clocks.hpp"
#include "cluster/cluster.hpp"

namespace wasp {

class Meeting {
public:
    /// Collective. Ranks below first_worker take no part.
    Meeting(Cluster& cluster, int first_worker) : arrivals_(cluster, first_worker) {}

    /// Returns when each worker has met as often as I have, or has retired.
    /// progress: see wait_until().   Error: stalled; names who has not come.
    void meet(const Progress& progress) {
        arrivals_.tick();
        arrivals_.wait_for_slowest(arrivals_.mine(), progress);
    }
    void visit(State& state) { arrivals_.visit(state); }
    void retire() { arrivals_.retire(); }
    std::int64_t met() const { return arrivals_.mine(); }

private:
    Clocks arrivals_;
};

}  // namespace wasp
