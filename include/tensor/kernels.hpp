/// The arithmetic of small networks, with the batch in the vector lanes: one vector holds the same
/// pixel (or feature) of `lanes` images, so that no kernel ever mixes lanes and any number of
/// channels or pixels fills the vectors. `lanes` images are a lane group; its activations are
/// (C,H,W) vectors, written [C][H][W][lanes].
///
/// The kernels are compiled once per instruction set (src/tensor/*.simd.cpp) and chosen at run
/// time. src/tensor/reference.hpp holds the same arithmetic as plain loops; the tests compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wasp {

/// The activations of one lane group: where its vectors lie. Rows may have a halo, vectors left and
/// right of them and rows above and below, that is zero where a convolution pads.
/// Element (c,h,w) begins at data + c·plane + h·row + w·lanes; distances are in floats.
struct Planes {
    float* data = nullptr;
    int channels = 1, height = 1, width = 1;
    std::ptrdiff_t plane = 0, row = 0;
};

/// A matrix of `rows` × `columns` whose element (r,c) is data[r·row_step + c·column_step]: a weight
/// matrix or, with the steps exchanged, its transpose.
struct MatrixView {
    const float* data = nullptr;
    int rows = 0, columns = 0;
    std::ptrdiff_t row_step = 0, column_step = 1;
};

/// Feature vectors of `groups` lane groups: feature f of group g is the vector at
/// data + g·group_step + f·lanes.
struct Features {
    float* data = nullptr;
    int count = 0, groups = 0;
    std::ptrdiff_t group_step = 0;
};

struct ChannelKernels;

/// Names of dimensions: I input and O output channels or features; K height and width of a
/// convolution's kernel or of a pooling window. Weights are laid out as PyTorch's: (O,I,K,K) and
/// (O,I).
struct Kernels {
    const char* name;  ///< of the instruction set: "avx", "avx2" or "avx512"
    int lanes;

    /// y = pixel · scale[c] + shift[c].   images: (lanes) pointers to (C,H,W) pixels.
    void (*load_uint8)(const std::byte* const* images, const float* scale, const float* shift,
                       const Planes& y);
    void (*load_float32)(const std::byte* const* images, const float* scale, const float* shift,
                         const Planes& y);

    /// Convolution with stride 1.   x: with a halo of at least `padding`, zero; bias: (O).
    void (*convolution)(const Planes& x, const float* weights, const float* bias, int kernel,
                        int padding, const Planes& y);
    /// dx is overwritten, its halo too: it holds no gradient, so ignore it.
    void (*convolution_input_gradient)(const Planes& dy, const float* weights, int kernel,
                                       int padding, const Planes& dx);
    /// weights and bias: the sum over the lanes is ADDED.
    void (*convolution_weight_gradient)(const Planes& x, const Planes& dy, int kernel, int padding,
                                        float* weights, float* bias);

    /// Windows of K × K, stride K; rows and columns that fill no window are ignored.
    /// winner: (C,H/K,W/K) vectors, the number, 0 … K·K−1, of the first largest element; a float,
    /// as AVX can compare no whole numbers.
    void (*max_pooling)(const Planes& x, int window, const Planes& y, float* winner);
    void (*max_pooling_gradient)(const Planes& dy, const float* winner, int window,
                                 const Planes& dx);
    void (*mean_pooling)(const Planes& x, int window, const Planes& y);
    void (*mean_pooling_gradient)(const Planes& dy, int window, const Planes& dx);

    /// In place: y = max(y, 0); and dy = 0 where y is not positive.
    void (*relu)(const Planes& y);
    void (*relu_gradient)(const Planes& y, const Planes& dy);

    /// y = matrix · x + bias, over all groups.   bias: (rows), or null for 0.
    void (*multiply)(const MatrixView& matrix, const float* bias, const Features& x,
                     const Features& y);
    /// weights (O,I) and bias (O) = sum over all groups and lanes of dy·xᵀ and dy; `add`: added to
    /// them.   scratch: linear_scratch() floats, a multiple of 64 bytes from the last one's.
    void (*linear_weight_gradient)(const Features& x, const Features& dy, bool add, float* weights,
                                   float* bias, float* scratch);

    /// Multiplications and additions in registers alone, as fast as a core can; returns how many.
    double (*multiply_add)(std::int64_t rounds);

    /// Of networks of many channels, behind tensor/batch_norm.hpp and convolution_operator.hpp.
    const ChannelKernels* channels;

    /// Floats that linear_weight_gradient() needs for x.
    std::size_t linear_scratch(int inputs, int groups) const {
        const auto width = static_cast<std::size_t>(lanes);
        const std::size_t vectors = (static_cast<std::size_t>(inputs) + width - 1) / width;
        return static_cast<std::size_t>(groups) * width * vectors * width;
    }
};

/// Of the instruction set `name`; empty: of the best that this machine has.
/// Error: this machine, or this build, doesn't have it; names those it has.
const Kernels& kernels(std::string_view name = {});

/// The instruction sets that this machine has and this build knows, best last.
std::vector<std::string_view> kernel_names();

}  // namespace wasp
