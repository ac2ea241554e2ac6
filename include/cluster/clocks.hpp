/// How many steps each worker has done; the gates of SSP and of WASP's forced synchronisation stand
/// on it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/state.hpp"
#include "cluster/cluster.hpp"

namespace wasp {

class Clocks {
public:
    /// Collective. Ranks below `first` are no workers; nobody waits for them.
    explicit Clocks(Cluster& cluster, int first = 0);

    void tick();  ///< my clock + 1
    std::int64_t mine() const { return mine_; }
    void visit(State& state) { state.value("clock", mine_); }
    std::int64_t slowest();  ///< of the workers that have not retired; very large when all have

    /// Returns when slowest() >= at_least.   progress: see wait_until().
    /// Error: stalled; names the ranks behind, with their clocks.
    void wait_for_slowest(std::int64_t at_least, const Progress& progress = {});

    /// I am done: nobody waits for me any more.
    void retire();
    bool retired(int rank);
    /// Returns when all workers have retired.   progress: see wait_until().
    void wait_for_all_retired(const Progress& progress = {});

private:
    std::span<const std::int64_t> look();
    bool have_all_reached(std::int64_t at_least);
    std::string behind(std::int64_t at_least);

    Cluster& cluster_;
    int first_;
    int keeper_;  // has the clocks of all: one read shows them; the last of those that hold weights
    std::int64_t mine_ = 0;
    std::unique_ptr<Counters> counters_;  // one a rank
    std::vector<std::int64_t> seen_;      // of the workers, at the last look; clocks never go back
};

}  // namespace wasp
