#include "tensor/vector_ops.hpp"

#include <immintrin.h>
#include <omp.h>

#include <cmath>
#include <cstring>

#include "base/error.hpp"
#include "tensor/parallel.hpp"

// One source, several instruction sets, chosen when the program is loaded. Sanitizers can't do
// that.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GNUC__) || \
    defined(__clang__)
#define FOR_EACH_CPU
#else
#define FOR_EACH_CPU __attribute__((target_clones("avx512f", "avx2", "avx", "default")))
#endif

namespace wasp {

namespace {

constexpr std::size_t grain = 16384;  // floats: below that a second thread costs more than it saves

FOR_EACH_CPU void axpy_range(float a, const float* x, float* y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}

FOR_EACH_CPU void add_range(const float* x, const float* y, float* sum, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) sum[i] = x[i] + y[i];
}

FOR_EACH_CPU void scale_range(float a, float* x, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) x[i] *= a;
}

FOR_EACH_CPU void move_range(float p, const float* target, float* x, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) x[i] += p * (target[i] - x[i]);
}

FOR_EACH_CPU void momentum_range(const SgdCoefficients& c, const float* g, const float* x, float* u,
                                 std::size_t n) {
    if (c.decay == 0) {  // a pass over memory less
        for (std::size_t i = 0; i < n; ++i) u[i] = c.momentum * u[i] - c.rate * g[i];
        return;
    }
    for (std::size_t i = 0; i < n; ++i) u[i] = c.momentum * u[i] - c.rate * (g[i] + c.decay * x[i]);
}

FOR_EACH_CPU void nesterov_range(const SgdCoefficients& c, const float* g, const float* x, float* u,
                                 float* step, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const float fall = c.rate * (g[i] + c.decay * x[i]);
        u[i] = c.momentum * u[i] - fall;
        step[i] = c.momentum * u[i] - fall;
    }
}

FOR_EACH_CPU float zero_if_finite(const float* x, std::size_t n) {
    float sum = 0;  // x − x is 0 for a finite x, else NaN, and a NaN stays
    for (std::size_t i = 0; i < n; ++i) sum += x[i] - x[i];
    return sum;
}

}  // namespace

void axpy(float a, std::span<const float> x, std::span<float> y) {
    ASSERT(x.size() == y.size(), "axpy of {} onto {} floats", x.size(), y.size());
    parallel_ranges(y.size(), grain, [&](std::size_t begin, std::size_t end) {
        axpy_range(a, &x[begin], &y[begin], end - begin);
    });
}

void scale(float a, std::span<float> x) {
    parallel_ranges(x.size(), grain, [&](std::size_t begin, std::size_t end) {
        scale_range(a, &x[begin], end - begin);
    });
}

void add(std::span<const float> x, std::span<const float> y, std::span<float> sum) {
    ASSERT(x.size() == sum.size() && y.size() == sum.size(), "sum of {} and {} to {} floats",
           x.size(), y.size(), sum.size());
    parallel_ranges(sum.size(), grain, [&](std::size_t begin, std::size_t end) {
        add_range(&x[begin], &y[begin], &sum[begin], end - begin);
    });
}

void copy(std::span<const float> from, std::span<float> to) {
    ASSERT(from.size() == to.size(), "copy of {} to {} floats", from.size(), to.size());
    parallel_ranges(to.size(), grain, [&](std::size_t begin, std::size_t end) {
        std::memcpy(&to[begin], &from[begin], (end - begin) * sizeof(float));
    });
}

void move_towards(float p, std::span<const float> target, std::span<float> x) {
    ASSERT(target.size() == x.size(), "target of {} for {} floats", target.size(), x.size());
    parallel_ranges(x.size(), grain, [&](std::size_t begin, std::size_t end) {
        move_range(p, &target[begin], &x[begin], end - begin);
    });
}

bool all_finite(std::span<const float> x) {
    return zero_if_finite(x.data(), x.size()) == 0.0F;
}

double squared_distance(std::span<const float> x, std::span<const float> y) {
    ASSERT(x.size() == y.size(), "distance of {} and {} floats", x.size(), y.size());
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double difference = static_cast<double>(x[i]) - static_cast<double>(y[i]);
        sum += difference * difference;
    }
    return sum;
}

void momentum_step(const SgdCoefficients& c, std::span<const float> g, std::span<const float> x,
                   std::span<float> u) {
    ASSERT(g.size() == u.size() && x.size() == u.size(), "step of {}, {} and {} floats", g.size(),
           x.size(), u.size());
    parallel_ranges(u.size(), grain, [&](std::size_t begin, std::size_t end) {
        momentum_range(c, &g[begin], &x[begin], &u[begin], end - begin);
    });
}

void nesterov_step(const SgdCoefficients& c, std::span<const float> g, std::span<const float> x,
                   std::span<float> u, std::span<float> step) {
    ASSERT(g.size() == u.size() && x.size() == u.size() && step.size() == u.size(),
           "step of {}, {}, {} and {} floats", g.size(), x.size(), u.size(), step.size());
    parallel_ranges(u.size(), grain, [&](std::size_t begin, std::size_t end) {
        nesterov_range(c, &g[begin], &x[begin], &u[begin], &step[begin], end - begin);
    });
}

void use_threads(int threads) {
    omp_set_num_threads(threads);
#pragma omp parallel
    {
        _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
        _mm_setcsr(_mm_getcsr() | 0x0040U);  // denormals are zero
    }
}

}  // namespace wasp
