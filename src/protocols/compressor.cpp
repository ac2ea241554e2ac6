#include "compressor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "base/error.hpp"
#include "cluster/cluster.hpp"
#include "tensor/halves.hpp"
#include "tensor/parallel.hpp"

namespace wasp {

namespace {

constexpr std::uint32_t largest_size = 0x7FFFFFFF;

/// A size that at most `kept` of the numbers exceed, and all but fewer reach. Sizes are compared by
/// their bits.
std::uint32_t threshold(std::span<const float> x, std::size_t kept) {
    std::uint32_t low = 0, high = largest_size;
    while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        std::uint32_t above = 0;
        for (const float value : x) above += size_bits(value) > middle ? 1U : 0U;
        if (above == kept) return middle;
        if (above < kept)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/// q: the `kept` largest of e, of equal ones the first; 0 elsewhere.
void keep_largest(std::span<const float> e, std::size_t kept, std::span<float> q) {
    const std::uint32_t least = threshold(e, kept);
    std::size_t above = 0;
    for (std::size_t i = 0; i < e.size(); ++i) {
        const bool larger = size_bits(e[i]) > least;
        q[i] = larger ? e[i] : 0.0F;
        above += larger ? 1 : 0;
    }
    for (std::size_t i = 0; above < kept; ++i) {
        if (size_bits(e[i]) != least) continue;
        q[i] = e[i];
        ++above;
    }
}

void quantise(const Compression& compression, std::span<const float> e, std::span<float> q) {
    using Kind = Compression::Kind;
    switch (compression.kind) {
        case Kind::none:
            std::ranges::copy(e, q.begin());
            break;
        case Kind::fp16:
            for (std::size_t i = 0; i < e.size(); ++i) q[i] = round_to_fp16(e[i]);
            break;
        case Kind::bf16:
            for (std::size_t i = 0; i < e.size(); ++i) q[i] = round_to_bf16(e[i]);
            break;
        case Kind::topk:
            keep_largest(e, compression.kept(e.size()), q);
            break;
    }
}

}  // namespace

std::span<const float> Compressor::compress(std::size_t offset, std::span<const float> update) {
    ASSERT(offset % Window::block == 0, "a part of an update from {} on", offset);
    const auto e = std::span(residual_).subspan(offset, update.size());
    const auto q = std::span(pushed_).subspan(offset, update.size());
    parallel_ranges(update.size(), Window::block, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) e[i] += update[i];
        quantise(compression_, e.subspan(begin, end - begin), q.subspan(begin, end - begin));
        for (std::size_t i = begin; i < end; ++i) e[i] -= q[i];
    });
    return q;
}

}  // namespace wasp
