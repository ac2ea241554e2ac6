/// Private to the kernels: what moves numbers across lanes.
#pragma once

#include <utility>

#include "lanes.hpp"

namespace wasp::SIMD {

/// {a0, b0, a1, b1, …}: the first (High: second) halves of `a` and `b`, alternating.
template <bool High, class Any, int... I>
inline Any interleave(Any a, Any b, std::integer_sequence<int, I...> /*lanes*/) {
    constexpr int size = sizeof...(I), first = High ? size / 2 : 0;
    return __builtin_shufflevector(a, b, (first + I / 2 + (I % 2) * size)...);
}

/// Transposes Rows vectors of Width elements in place: afterwards, read one after the other, they
/// hold the elements of column 0, then those of column 1, and so on.
/// Each round interleaves the first half of the rows with the second, as one shuffles cards.
template <int Rows, int Width, class Any>
inline void transpose(Any (&row)[Rows]) {
    constexpr std::make_integer_sequence<int, Width> all;
#pragma GCC unroll 4
    for (int round = 1; round < Rows; round *= 2) {
        Any next[Rows];
#pragma GCC unroll 16
        for (int i = 0; i < Rows / 2; ++i) {
            next[2 * i] = interleave<false>(row[i], row[i + Rows / 2], all);
            next[2 * i + 1] = interleave<true>(row[i], row[i + Rows / 2], all);
        }
#pragma GCC unroll 16
        for (int i = 0; i < Rows; ++i) row[i] = next[i];
    }
}

/// Lane l of the result is a[l] + a[l ^ Distance], or where l has the bit Distance the same of b.
template <int Distance, int... I>
inline Vector fold(Vector a, Vector b, std::integer_sequence<int, I...> /*lanes*/) {
    const Vector own = __builtin_shufflevector(a, b, ((I & Distance) != 0 ? lanes + I : I)...);
    const Vector other = __builtin_shufflevector(
        a, b, ((I & Distance) != 0 ? lanes + (I ^ Distance) : (I ^ Distance))...);
    return own + other;
}

/// Lane l of the result is the sum of all lanes of v[l]: a tree of `lanes` − 1 folds, where sums
/// one by one would take four additions and four shuffles each.   Overwrites v.
template <int Distance = lanes / 2>
inline Vector sums(Vector (&v)[lanes]) {
#pragma GCC unroll 8
    for (int i = 0; i < Distance; ++i)
        v[i] = fold<Distance>(v[i], v[i + Distance], std::make_integer_sequence<int, lanes>());
    if constexpr (Distance > 1)
        return sums<Distance / 2>(v);
    else
        return v[0];
}

/// total[i] = the sum of all lanes of v[i].   v, total: (count), in arrays whose length is a
/// multiple of `lanes`.
inline void sum_lanes(const Vector* v, int count, float* total) {
    for (int first = 0; first < count; first += lanes) {
        Vector part[lanes];
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) part[i] = v[first + i];
        *reinterpret_cast<UnalignedVector*>(total + first) = sums(part);
    }
}

}  // namespace wasp::SIMD
