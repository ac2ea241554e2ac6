// As many multiplications and additions as a core can do: what shares of the peak refer to.
#include "lanes.hpp"
#include "table.hpp"

namespace wasp::SIMD {

NOINLINE double multiply_add(std::int64_t rounds) {
    constexpr int chains = registers == 32 ? 24 : 12;  // enough to hide the latency of each
    Vector sum[chains] = {};
    for (Vector& value : sum) asm volatile("" : "+v"(value));  // now nobody knows they are equal
    const Vector factor = Vector{} + 0.5F, term = Vector{} + 1.0F;
    for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 32
        for (int i = 0; i < chains; ++i) sum[i] = sum[i] * factor + term;
    }
    for (const Vector& value : sum) asm volatile("" : : "v"(value));
    return 2.0 * chains * lanes * static_cast<double>(rounds);
}

}  // namespace wasp::SIMD
