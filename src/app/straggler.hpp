/// Workers that are slowed down on purpose (--straggler), to see what a protocol makes of them.
///     rank=2,slow=4[,from=100]                  that rank's steps take four times as long
///     node=1,slow=2[,from=100]                  those of all ranks of that node
///     random,probability=0.05,slow=3[,seed=1]   each step of each rank, with that probability
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "base/random.hpp"
#include "base/state.hpp"
#include "cluster/cluster.hpp"

namespace wasp {

class Straggler {
public:
    /// text: as above; empty: nobody is slow.   ranks: of the run.   Error: malformed.
    Straggler(const std::string& text, const Place& place, int ranks);

    /// How much longer my step takes that took `seconds`.   To be asked once a step.
    double delay(std::int64_t step, double seconds);

    void visit(State& state);

private:
    double slow_ = 1, probability_ = 0;  // of being slow
    std::int64_t from_ = 0;              // step
    std::optional<RandomStream> draw_;
};

}  // namespace wasp
