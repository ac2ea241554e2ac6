// Pooling over windows that don't overlap.
#include "lanes.hpp"
#include "table.hpp"

namespace wasp::SIMD {

namespace {

/// One row of windows: element (i,j) of window `column` is x[i·x_row + column·window + j].
/// Window > 0 is the window when it is known to the compiler, so that LeNet's 2 × 2 unrolls.
template <int Window, class Body>
inline void for_each_element(int window, const Body& body) {
    const int size = Window > 0 ? Window : window;
#pragma GCC unroll 2
    for (int i = 0; i < size; ++i)
#pragma GCC unroll 2
        for (int j = 0; j < size; ++j) body(i, j);
}

/// body(x, y, index) for every window: its first element in `x`, its element in `y`, and its
/// number.
template <class X, class Y, class Body>
inline void for_each_window(const Planes& large, const Planes& small, int window, X* x, Y* y,
                            const Body& body) {
    std::ptrdiff_t index = 0;
    for (int c = 0; c < small.channels; ++c)
        for (int row = 0; row < small.height; ++row) {
            X* from = x + (c * large.plane + row * window * large.row) / lanes;
            Y* to = y + (c * small.plane + row * small.row) / lanes;
            for (int column = 0; column < small.width; ++column)
                body(from + static_cast<std::ptrdiff_t>(column) * window, to + column, index++);
        }
}

/// Rows and columns that belong to no window.
void clear_rest(const Planes& small, int window, const Planes& large) {
    for (int c = 0; c < large.channels; ++c)
        for (int row = 0; row < large.height; ++row) {
            Vector* line = vectors(large.data + c * large.plane + row * large.row);
            const int first = row < small.height * window ? small.width * window : 0;
            for (int column = first; column < large.width; ++column) line[column] = Vector{};
        }
}

template <int Window>
void max_pool(const Planes& x, int window, const Planes& y, Vector* winner) {
    const std::ptrdiff_t x_row = x.row / lanes;
    for_each_window(x, y, window, vectors(x.data), vectors(y.data),
                    [&](const Vector* from, Vector* to, std::ptrdiff_t index) {
                        Vector best = from[0];
                        Vector where = {};
                        float number = 0;
                        for_each_element<Window>(window, [&](int i, int j) {
                            const Vector value = from[i * x_row + j];
                            const auto better = value > best;
                            best = better ? value : best;
                            where = better ? Vector{} + number : where;
                            ++number;
                        });
                        *to = best;
                        winner[index] = where;
                    });
}

template <int Window>
void max_pool_gradient(const Planes& dy, const Vector* winner, int window, const Planes& dx) {
    const std::ptrdiff_t x_row = dx.row / lanes;
    for_each_window(dx, dy, window, vectors(dx.data), vectors(dy.data),
                    [&](Vector* to, const Vector* from, std::ptrdiff_t index) {
                        const Vector gradient = *from;
                        const Vector where = winner[index];
                        float number = 0;
                        for_each_element<Window>(window, [&](int i, int j) {
                            to[i * x_row + j] = where == number ? gradient : Vector{};
                            ++number;
                        });
                    });
    clear_rest(dy, window, dx);
}

template <int Window>
void mean_pool(const Planes& x, int window, const Planes& y) {
    const std::ptrdiff_t x_row = x.row / lanes;
    const float share = 1.0F / static_cast<float>(window * window);
    for_each_window(x, y, window, vectors(x.data), vectors(y.data),
                    [&](const Vector* from, Vector* to, std::ptrdiff_t /*index*/) {
                        Vector sum = {};
                        for_each_element<Window>(window,
                                                 [&](int i, int j) { sum += from[i * x_row + j]; });
                        *to = share * sum;
                    });
}

template <int Window>
void mean_pool_gradient(const Planes& dy, int window, const Planes& dx) {
    const std::ptrdiff_t x_row = dx.row / lanes;
    const float share = 1.0F / static_cast<float>(window * window);
    for_each_window(dx, dy, window, vectors(dx.data), vectors(dy.data),
                    [&](Vector* to, const Vector* from, std::ptrdiff_t /*index*/) {
                        const Vector part = share * *from;
                        for_each_element<Window>(window,
                                                 [&](int i, int j) { to[i * x_row + j] = part; });
                    });
    clear_rest(dy, window, dx);
}

}  // namespace

void max_pooling(const Planes& x, int window, const Planes& y, float* winner) {
    const auto pool = window == 2 ? max_pool<2> : max_pool<0>;
    pool(x, window, y, vectors(winner));
}

void max_pooling_gradient(const Planes& dy, const float* winner, int window, const Planes& dx) {
    const auto spread = window == 2 ? max_pool_gradient<2> : max_pool_gradient<0>;
    spread(dy, vectors(winner), window, dx);
}

void mean_pooling(const Planes& x, int window, const Planes& y) {
    const auto pool = window == 2 ? mean_pool<2> : mean_pool<0>;
    pool(x, window, y);
}

void mean_pooling_gradient(const Planes& dy, int window, const Planes& dx) {
    const auto spread = window == 2 ? mean_pool_gradient<2> : mean_pool_gradient<0>;
    spread(dy, window, dx);
}

}  // namespace wasp::SIMD
