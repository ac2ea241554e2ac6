/// What this machine can do at most: what shares of it refer to.
#pragma once

#include <string>

#include "tensor/kernels.hpp"

namespace wasp {

struct Limits {
    std::string instructions;  ///< e.g. "avx512"
    int threads = 1;
    double flops = 0;   ///< multiplications and additions a second, in registers
    double copied = 0;  ///< bytes a second of a copy that no cache can hold, each read and written
};

/// Measured now, with available_threads(). Takes a second at most, and half a gigabyte.
Limits measure_limits(const Kernels& kernels);

/// E.g. "226 GFLOP/s (avx512, 1 thread), 12.1 GB/s copied".
std::string in_words(const Limits& limits);

}  // namespace wasp
