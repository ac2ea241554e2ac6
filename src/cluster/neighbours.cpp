#include "neighbours.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>

#include "base/error.hpp"

namespace wasp {

bool process_runs(int process) {
    return kill(process, 0) == 0 || errno != ESRCH;
}

Neighbours::Neighbours(std::span<const Neighbour> all) {
    std::ranges::copy_if(all, std::back_inserter(seen_), process_runs, &Neighbour::process);
}

void Neighbours::check(double seconds, const std::string& host) {
    constexpr double between_looks = 0.5;
    if (seconds < next_look_) return;
    next_look_ = seconds + between_looks;
    for (const auto& neighbour : seen_)
        ENSURE(process_runs(neighbour.process), "rank {} (process {} on {}) is gone",
               neighbour.rank, neighbour.process, host);
}

}  // namespace wasp
