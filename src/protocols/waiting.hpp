/// Waits among workers, some of which may finish meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cluster/clocks.hpp"
#include "cluster/cluster.hpp"

namespace wasp {

/// Changes whenever some worker has got on.
using Progress = std::function<std::int64_t()>;

/// Wait until done(). A slow worker may need many steps before it comes, so the stall limit counts
/// from the last progress.   Error: nobody has got on for stall_seconds(); names whom().
void wait_while_others_progress(Cluster& cluster, const Progress& progress,
                                const std::function<bool()>& done,
                                const std::function<std::string()>& whom);

/// Wait until all workers have retired, serving them meanwhile.   Error: as above.
void wait_for_all_retired(Cluster& cluster, const Progress& progress, Clocks& workers);

/// A barrier of the workers that have not retired.
class Meeting {
public:
    /// Collective. Ranks below first_worker take no part.
    Meeting(Cluster& cluster, int first_worker)
        : cluster_(cluster), arrivals_(cluster, first_worker) {}

    /// Returns when each worker has met as often as I have, or has retired.   Error: as above.
    void meet(const Progress& progress);
    void retire() { arrivals_.retire(); }

private:
    Cluster& cluster_;
    Clocks arrivals_;
};

}  // namespace wasp
