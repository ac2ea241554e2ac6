#include "waiting.hpp"

#include <fmt/format.h>

namespace wasp {

void wait_while_others_progress(Cluster& cluster, const Progress& progress,
                                const std::function<bool()>& done,
                                const std::function<std::string()>& whom) {
    for (bool finished = done(); !finished;) {
        const auto before = progress();
        wait_until(
            cluster,
            [&] {
                finished = done();
                return finished || progress() != before;
            },
            whom);
    }
}

void wait_for_all_retired(Cluster& cluster, const Progress& progress, Clocks& workers) {
    wait_while_others_progress(
        cluster, progress, [&] { return workers.all_retired(); },
        [&] { return workers.behind() + " to finish"; });
}

void Meeting::meet(const Progress& progress) {
    arrivals_.tick();
    const auto mine = arrivals_.mine();
    wait_while_others_progress(
        cluster_, progress, [&] { return arrivals_.slowest() >= mine; },
        [&] { return fmt::format("{} to come to meeting {}", arrivals_.behind(mine), mine); });
}

}  // namespace wasp
