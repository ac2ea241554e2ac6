/// Threads over a range: how the other rooms use OpenMP.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <exception>

namespace wasp {

/// Threads that the caller may use: what use_threads() said.
inline int available_threads() {
    return omp_get_max_threads();
}

/// Call body(thread) on `threads` threads; body(0) on the calling one.
/// Error: what a body throws, of the lowest thread that did.
template <class Body>
void parallel_threads(int threads, Body body) {
    if (threads <= 1) {
        body(0);
        return;
    }
    int failed = threads;
    std::exception_ptr error;  // must not leave a parallel region
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int thread = 0; thread < threads; ++thread) {
        try {
            body(thread);
        } catch (...) {
#pragma omp critical
            if (thread < failed) {
                failed = thread;
                error = std::current_exception();
            }
        }
    }
    if (error) std::rethrow_exception(error);
}

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
