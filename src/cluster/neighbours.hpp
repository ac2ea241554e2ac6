/// The processes of the other ranks of this node: whether they still run.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace wasp {

/// On this node, as far as it can be seen from here.
bool process_runs(int process);

class Neighbours {
public:
    struct Neighbour {
        int rank;
        int process;
    };

    /// Those that can't be seen from here (containers) are left out.
    explicit Neighbours(std::span<const Neighbour> all = {});

    /// Error: one has ended; named.   seconds: now; looks only a few times a second.
    void check(double seconds, const std::string& host);

private:
    std::vector<Neighbour> seen_;
    double next_look_ = 0;
};

}  // namespace wasp
