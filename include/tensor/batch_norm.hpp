/// Batch normalisation fused with what surrounds it in a residual network, in as few passes over
/// the activations as it takes: memory is what bounds it.
///     y = relu(γ·(x − μ)/√(σ² + ε) + β + residual),   ε = 1e-5
/// Source: Ioffe and Szegedy 2015, "Batch normalization", algorithms 1 and 2.
#pragma once

#include <cstddef>
#include <span>

#include "base/aligned.hpp"
#include "tensor/activation_layout.hpp"
#include "tensor/kernels.hpp"

namespace wasp {

struct ChannelRuns;

/// The trainable scale and shift of one layer, or their gradients.   (C)
template <class Float>
struct BatchNormPair {
    std::span<Float> gamma, beta;
};

/// Running estimates for inference: r += weight·(that of the batch − r), the variance with N−1.
struct RunningStatistics {
    std::span<float> mean, variance;  ///< (C)
    double weight = 0.1;
};

/// One layer. Keeps the statistics of its last forward(), which backward() needs.
/// Pointers are to activations of (images, C, pixels) in the layout.
class BatchNorm {
public:
    BatchNorm(const Kernels& kernels, ActivationLayout layout, int channels);

    struct Forward {
        int images = 0, pixels = 0;
        const std::byte* x = nullptr;
        const std::byte* residual = nullptr;  ///< null: none
        bool relu = true;
        std::byte* y = nullptr;  ///< may be x
    };
    /// With μ and σ² of the batch; moves the running ones.
    void forward(const Forward& work, BatchNormPair<const float> scale, RunningStatistics running);
    /// With the running ones.
    void inference(const Forward& work, BatchNormPair<const float> scale,
                   RunningStatistics running);

    struct Backward {
        int images = 0, pixels = 0;
        const std::byte* x = nullptr;  ///< of forward()
        bool relu = true;
        /// y of forward(): where there was a residual, whose gradient dy then becomes. Null: the
        /// sign of y follows from x.
        const std::byte* y = nullptr;
        std::byte* dy = nullptr;
        const std::byte* more = nullptr;  ///< to be added to dy first, with `y` only; null: nothing
        std::byte* dx = nullptr;          ///< may be dy, unless `y` is given
    };
    void backward(const Backward& work, std::span<const float> gamma,
                  BatchNormPair<float> gradient);

private:
    struct Walk;
    std::span<float> row(AlignedFloats& values, int part);
    void fold(std::size_t c, double mean, double variance, BatchNormPair<const float> scale);
    void apply(const Forward& work, const ChannelRuns& runs, std::size_t c) const;

    const Kernels* kernels_;
    ActivationLayout layout_;
    std::size_t channels_;
    AlignedFloats mean_, inverse_deviation_;  // of the last batch
    AlignedFloats scale_, shift_;             // y = x·scale + shift before the residual
    AlignedFloats correction_;  // dx = scale·dz − offset − (x − mean)·slope: offset, slope
    AlignedFloats sums_;        // two a channel and part of the batch
};

}  // namespace wasp
