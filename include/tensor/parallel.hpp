/// Threads over a range: how the other rooms use OpenMP.
#pragma once

#include <algorithm>
#include <cstddef>

namespace wasp {

/// Call body(begin, end) for parts of [0, count), one a thread, in whole grains.
/// On the calling thread alone when there is one thread, or at most one grain.
template <class Body>
void parallel_ranges(std::size_t count, std::size_t grain, Body body) {
    const std::size_t grains = (count + grain - 1) / grain;
    if (grains <= 1) {
        if (count > 0) body(std::size_t{0}, count);
        return;
    }
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < grains; ++i) body(i * grain, std::min(count, (i + 1) * grain));
}

}  // namespace wasp
