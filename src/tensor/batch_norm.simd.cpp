// Batch normalisation, one group of channels at a time. Each kernel reads its operands once, in the
// order of memory.
#include "channel_table.hpp"
#include "elements.hpp"

namespace wasp::SIMD {

namespace {

constexpr int unroll = 4;  // independent sums: additions take four cycles, two a cycle begin

/// `unroll` partial sums of vectors, one of the elements that fill none; emptied into totals now
/// and then, so that small terms aren't lost in a large sum.
struct Sum {
    Vector total[unroll] = {}, part[unroll] = {};
    float total_rest = 0, rest = 0;

    void add(Vector v, int k) { part[k] += v; }
    void add(float v, int /*k*/) { rest += v; }
    void flush(const ChannelRuns& runs) {
        if (runs.vectors == 1) {
            total[0] += (part[0] + part[1]) + (part[2] + part[3]);
        } else {
#pragma GCC unroll 4
            for (int k = 0; k < unroll; ++k) total[k] += part[k];
        }
#pragma GCC unroll 4
        for (auto& p : part) p = Vector{};
        total_rest += rest;
        rest = 0;
    }
    void store(const ChannelRuns& runs, float* out) const {
        if (runs.one_channel) {
            *out = total_rest;
            for (int i = 0; i < lanes; ++i) *out += total[0][i];
            return;
        }
        for (int v = 0; v < runs.vectors; ++v) {
            Vector all = total[v];
            for (int k = v + runs.vectors; k < unroll; k += runs.vectors) all += total[k];
            *reinterpret_cast<UnalignedVector*>(out + v * lanes) = all;
        }
    }
};

/// body(at, k, V{}) for every element or vector of elements; vector k, 0 ≤ k < unroll, is the
/// group's vector k % vectors. V is Vector, or float at the end of a run that fills no vector.
/// fetch(at) some time before a run that is but a pixel: the processor foresees no such long steps.
/// flush() after at most 4,096 vectors.
template <class Body, class Fetch, class Flush>
inline void walk(const ChannelRuns& runs, const Body& body, const Fetch& fetch,
                 const Flush& flush) {
    constexpr std::ptrdiff_t stretch = std::ptrdiff_t{1024} * unroll * lanes;
    constexpr std::ptrdiff_t pixels = 128;  // from flush to flush
    constexpr std::ptrdiff_t ahead = 12;    // pixels
    const bool is_pixel = runs.length == runs.vectors * lanes;
    for (std::ptrdiff_t n = 0; n < runs.count; ++n) {
        std::ptrdiff_t at = runs.begin + n * runs.step;
        const std::ptrdiff_t end = at + runs.length;
        if (is_pixel && n + ahead < runs.count) fetch(at + ahead * runs.step);
        while (at < end) {
            const std::ptrdiff_t stop = end - at > stretch ? at + stretch : end;
            for (; at + unroll * lanes <= stop; at += unroll * lanes) {
#pragma GCC unroll 4
                for (int k = 0; k < unroll; ++k) body(at + k * lanes, k, Vector{});
            }
            for (int k = 0; at + lanes <= stop; at += lanes, ++k) body(at, k, Vector{});
            for (; at < stop; ++at) body(at, 0, float{});
            if (!is_pixel || n % pixels == pixels - 1) flush();
        }
    }
    flush();
}

/// Into the cache: the lines of a pixel's piece of `unroll` vectors.
template <class E>
inline void fetch_piece(const E* p) {
    constexpr int line = 64;
#pragma GCC unroll 4
    for (int byte = 0; byte < unroll * lanes * static_cast<int>(sizeof(E)); byte += line)
        __builtin_prefetch(reinterpret_cast<const char*>(p) + byte);
}

/// The group's numbers: vectors of them, or one in all lanes.
struct Parameter {
    Vector vector[unroll];
    float one;
    Parameter(const ChannelRuns& runs, const float* p) : one(*p) {
#pragma GCC unroll 4
        for (int k = 0; k < unroll; ++k)
            vector[k] = runs.one_channel ? Vector{} + *p
                                         : Vector(*reinterpret_cast<const UnalignedVector*>(
                                               p + k % runs.vectors * lanes));
    }
    Vector as(int k, Vector /*kind*/) const {
        return vector[k];
    }
    float as(int /*k*/, float /*kind*/) const {
        return one;
    }
};

inline Vector positive_part(Vector a) {
    return a > 0.0F ? a : Vector{};
}
inline float positive_part(float a) {
    return a > 0.0F ? a : 0.0F;
}
inline Vector where_positive(Vector sign, Vector a) {
    return sign > 0.0F ? a : Vector{};
}
inline float where_positive(float sign, float a) {
    return sign > 0.0F ? a : 0.0F;
}

template <class E>
NOINLINE void sums_of(const ChannelSums& work) {
    const auto* x = reinterpret_cast<const E*>(work.x);
    // A value of the channel is about as far from the mean as the others: squares don't cancel.
    if (work.runs.one_channel)
        store(load(x + work.first, float{}), work.origin);
    else
        for (int v = 0; v < work.runs.vectors; ++v)
            store(load(x + work.first + v * lanes, Vector{}), work.origin + v * lanes);
    const Parameter origin(work.runs, work.origin);
    Sum sum, squares;
    walk(
        work.runs,
        [&](std::ptrdiff_t at, int k, auto kind) {
            const auto d = load(x + at, kind) - origin.as(k, kind);
            sum.add(d, k);
            squares.add(d * d, k);
        },
        [&](std::ptrdiff_t at) { fetch_piece(x + at); },
        [&] {
            sum.flush(work.runs);
            squares.flush(work.runs);
        });
    sum.store(work.runs, work.sum);
    squares.store(work.runs, work.squares);
}

template <class E, bool Residual, bool Relu>
NOINLINE void scaling_of(const ChannelScaling& work) {
    const auto* x = reinterpret_cast<const E*>(work.x);
    const auto* residual = reinterpret_cast<const E*>(work.residual);
    auto* y = reinterpret_cast<E*>(work.y);
    const Parameter scale(work.runs, work.scale), shift(work.runs, work.shift);
    walk(
        work.runs,
        [&](std::ptrdiff_t at, int k, auto kind) {
            auto a = load(x + at, kind) * scale.as(k, kind) + shift.as(k, kind);
            if constexpr (Residual) a += load(residual + at, kind);
            if constexpr (Relu) a = positive_part(a);
            store(a, y + at);
        },
        [&](std::ptrdiff_t at) {
            fetch_piece(x + at);
            if constexpr (Residual) fetch_piece(residual + at);
        },
        [] {});
}

enum class Gate { open, sign_of_x, sign_of_y, sign_of_y_with_more };

template <class E, Gate gate>
NOINLINE void gradient_sums_of(const ChannelGradientSums& work) {
    const auto* x = reinterpret_cast<const E*>(work.x);
    const auto* y = reinterpret_cast<const E*>(work.y);
    const auto* more = reinterpret_cast<const E*>(work.more);
    auto* dy = reinterpret_cast<E*>(work.dy);
    const Parameter mean(work.runs, work.mean), scale(work.runs, work.scale),
        shift(work.runs, work.shift);
    Sum sum, product;
    walk(
        work.runs,
        [&](std::ptrdiff_t at, int k, auto kind) {
            const auto value = load(x + at, kind);
            auto dz = load(dy + at, kind);
            if constexpr (gate == Gate::sign_of_y_with_more) dz += load(more + at, kind);
            if constexpr (gate == Gate::sign_of_x)
                dz = where_positive(value * scale.as(k, kind) + shift.as(k, kind), dz);
            if constexpr (gate >= Gate::sign_of_y) {
                dz = where_positive(load(y + at, kind), dz);
                store(dz, dy + at);
            }
            sum.add(dz, k);
            product.add(dz * (value - mean.as(k, kind)), k);
        },
        [&](std::ptrdiff_t at) {
            fetch_piece(x + at);
            fetch_piece(dy + at);
            if constexpr (gate >= Gate::sign_of_y) fetch_piece(y + at);
            if constexpr (gate == Gate::sign_of_y_with_more) fetch_piece(more + at);
        },
        [&] {
            sum.flush(work.runs);
            product.flush(work.runs);
        });
    sum.store(work.runs, work.sum);
    product.store(work.runs, work.product);
}

template <class E, bool Relu>
NOINLINE void gradient_of(const ChannelGradient& work) {
    const auto* x = reinterpret_cast<const E*>(work.x);
    const auto* dy = reinterpret_cast<const E*>(work.dy);
    auto* dx = reinterpret_cast<E*>(work.dx);
    const Parameter mean(work.runs, work.mean), scale(work.runs, work.scale),
        shift(work.runs, work.shift), offset(work.runs, work.offset), slope(work.runs, work.slope);
    walk(
        work.runs,
        [&](std::ptrdiff_t at, int k, auto kind) {
            const auto value = load(x + at, kind);
            auto dz = load(dy + at, kind);
            if constexpr (Relu)
                dz = where_positive(value * scale.as(k, kind) + shift.as(k, kind), dz);
            store(scale.as(k, kind) * dz - offset.as(k, kind) -
                      (value - mean.as(k, kind)) * slope.as(k, kind),
                  dx + at);
        },
        [&](std::ptrdiff_t at) {
            fetch_piece(x + at);
            fetch_piece(dy + at);
        },
        [] {});
}

/// call(E{}) with the type of the elements.
template <class Call>
inline void with_element(const ChannelRuns& runs, const Call& call) {
    if (runs.precision == Precision::bf16)
        call(Bf16{});
    else
        call(float{});
}

}  // namespace

void channel_sums(const ChannelSums& work) {
    with_element(work.runs, [&]<class E>(E /*kind*/) { sums_of<E>(work); });
}

void channel_scaling(const ChannelScaling& work) {
    with_element(work.runs, [&]<class E>(E /*kind*/) {
        if (work.residual != nullptr)
            work.relu ? scaling_of<E, true, true>(work) : scaling_of<E, true, false>(work);
        else
            work.relu ? scaling_of<E, false, true>(work) : scaling_of<E, false, false>(work);
    });
}

void channel_gradient_sums(const ChannelGradientSums& work) {
    with_element(work.runs, [&]<class E>(E /*kind*/) {
        if (work.y != nullptr)
            work.more != nullptr ? gradient_sums_of<E, Gate::sign_of_y_with_more>(work)
                                 : gradient_sums_of<E, Gate::sign_of_y>(work);
        else
            work.relu ? gradient_sums_of<E, Gate::sign_of_x>(work)
                      : gradient_sums_of<E, Gate::open>(work);
    });
}

void channel_gradient(const ChannelGradient& work) {
    with_element(work.runs, [&]<class E>(E /*kind*/) {
        work.relu ? gradient_of<E, true>(work) : gradient_of<E, false>(work);
    });
}

}  // namespace wasp::SIMD
