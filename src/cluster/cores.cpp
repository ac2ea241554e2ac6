#include "cores.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <thread>

namespace wasp {

CoreSet usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    CoreSet cores{};
    for (std::size_t core = 0; core < 64 * cores.size() && core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &set)) cores[core / 64] |= std::uint64_t{1} << (core % 64);
    return cores;
}

int count(const CoreSet& cores) {
    int all = 0;
    for (const std::uint64_t word : cores) all += std::popcount(word);
    return all;
}

// Ranks that only take turns still get their share of a core, and the one they wait for gets no
// more than its own. So a long wait naps: for an eighth of what it has lasted, which is also the
// most that a nap can cost. Each turn looks at all others: hundreds of ranks on a core nap longer,
// or looking would be all that they do.
void take_turns(int ranks, int cores, double waited_seconds) {
    constexpr double patience = 50e-6;
    constexpr double longest_nap = 1e-3, nap_of_a_rank = 50e-6;
    if (ranks <= cores || waited_seconds < patience) {
        sched_yield();
        return;
    }
    const double nap =
        std::min(waited_seconds / 8, std::max(longest_nap, nap_of_a_rank * ranks / cores));
    std::this_thread::sleep_for(std::chrono::duration<double>(nap));
}

}  // namespace wasp
