/// Element-wise operations on flat vectors of weights and gradients. Threaded when they are long.
/// Error: lengths differ (ASSERT).
#pragma once

#include <span>

namespace wasp {

void axpy(float a, std::span<const float> x, std::span<float> y);  ///< y += a·x
void scale(float a, std::span<float> x);                           ///< x *= a
void add(std::span<const float> x, std::span<const float> y,
         std::span<float> sum);  ///< sum = x + y, which may be x
void copy(std::span<const float> from, std::span<float> to);
void move_towards(float p, std::span<const float> target,
                  std::span<float> x);  ///< x += p·(target − x)
bool all_finite(std::span<const float> x);
double squared_distance(std::span<const float> x, std::span<const float> y);

/// The coefficients of stochastic gradient descent: momentum μ, learning rate η, weight decay λ.
struct SgdCoefficients {
    float momentum = 0, rate = 0, decay = 0;
};
/// u = μ·u − η·(g + λ·x)
void momentum_step(const SgdCoefficients& c, std::span<const float> g, std::span<const float> x,
                   std::span<float> u);
/// The same u, and step = μ·u − η·(g + λ·x) with it.
void nesterov_step(const SgdCoefficients& c, std::span<const float> g, std::span<const float> x,
                   std::span<float> u, std::span<float> step);

/// Threads of this rank from now on, and flush-to-zero and denormals-are-zero in each of them.
void use_threads(int threads);

}  // namespace wasp
