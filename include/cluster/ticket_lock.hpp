/// One rank at a time, in the order in which they ask. For what takes as long as a message, not for
/// what takes nanoseconds.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "cluster/cluster.hpp"

namespace wasp {

class TicketLock {
public:
    /// Collective.   what: is done by one rank at a time, for messages.
    TicketLock(Cluster& cluster, std::string_view what);

    /// Returns my ticket, 0, 1, … in the order of asking, when all before it have been served.
    /// progress: see wait_until(); without it the tickets served.   Error: stalled.
    std::int64_t enter(const Progress& progress = {});
    void leave();
    std::int64_t served();
    /// By one rank, while nobody asks: as if so many had been served.
    void go_on_from(std::int64_t served_so_far);

private:
    enum : std::size_t { tickets, served_tickets, counters };
    static constexpr int keeper = 0;

    Cluster& cluster_;
    std::string_view what_;
    std::unique_ptr<Counters> counters_;
};

}  // namespace wasp
