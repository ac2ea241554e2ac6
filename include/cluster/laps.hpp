/// The parts of an exchange, timed on the cluster's clock (virtual where time is).
#pragma once

#include "cluster/cluster.hpp"

namespace wasp {

class Laps {
public:
    explicit Laps(const Cluster& cluster) : cluster_(cluster), last_(cluster.seconds()) {}

    /// Seconds since the last lap.
    double lap() {
        const double now = cluster_.seconds();
        const double passed = now - last_;
        last_ = now;
        return passed;
    }

private:
    const Cluster& cluster_;
    double last_;
};

}  // namespace wasp
