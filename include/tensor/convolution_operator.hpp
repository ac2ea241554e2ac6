/// Convolutions without bias as linear operators, for networks of many channels: forward, and the
/// two adjoints of it. Two libraries stand behind: oneDNN, and im2col over OpenBLAS.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/activation_layout.hpp"
#include "tensor/image_batch.hpp"
#include "tensor/kernels.hpp"

namespace wasp {

/// (N,I,H,W) → (N,O,⌈H/stride⌉,⌈W/stride⌉) with weights (O,I,K,K), K odd, padding K/2.
struct ConvolutionShape {
    int images = 1;  ///< at most
    int inputs = 1, outputs = 1, height = 1, width = 1, kernel = 1, stride = 1;
    bool of_pixels = false;  ///< the input is what load_pixels() wrote; nobody wants its gradient

    int padding() const { return kernel / 2; }
    int output_height() const { return (height - 1) / stride + 1; }
    int output_width() const { return (width - 1) / stride + 1; }
    int input_pixels() const { return height * width; }
    int output_pixels() const { return output_height() * output_width(); }
    std::size_t weights() const;     ///< O·I·K·K
    double multiplications() const;  ///< of one pass over one image
    bool operator==(const ConvolutionShape&) const = default;
};

/// Activations are given as memory in the engine's layout. The operator's weights and their
/// gradient lie in PyTorch's order (O,I,K,K), float32.
class ConvolutionOperator {
public:
    ConvolutionOperator() = default;
    ConvolutionOperator(const ConvolutionOperator&) = delete;
    ConvolutionOperator& operator=(const ConvolutionOperator&) = delete;
    virtual ~ConvolutionOperator() = default;

    virtual void forward(int images, const std::byte* x, const float* weights, std::byte* y) = 0;
    virtual void backward_data(int images, const std::byte* dy, const float* weights,
                               std::byte* dx) = 0;
    /// gradient: overwritten with the sum over the images.
    virtual void backward_weights(int images, const std::byte* x, const std::byte* dy,
                                  float* gradient) = 0;
};

/// How oneDNN computes a pass of a convolution. Where it cannot so, directly.
enum class ConvolutionAlgorithm {
    measured,  ///< the fastest on this machine, by measurement when the operator is made
    direct,
    winograd,  ///< 3×3 of stride 1 with AVX-512 in float32: fewer multiplications, less exact
    product,   ///< channels last: a product of matrices, one of which holds windows (im2col)
    turned,    ///< channels last, gradient of the data, stride 1: a convolution with turned weights
};

/// What the operators of one network share: a layout, memory to work in, counters. One thread of
/// the program calls it; inside, it uses available_threads().
class ConvolutionEngine {
public:
    ConvolutionEngine() = default;
    ConvolutionEngine(const ConvolutionEngine&) = delete;
    ConvolutionEngine& operator=(const ConvolutionEngine&) = delete;
    virtual ~ConvolutionEngine() = default;

    virtual std::string name() const = 0;  ///< e.g. "oneDNN 2.6.3"
    virtual ActivationLayout layout() const = 0;

    /// The operator must not outlive the engine.
    virtual std::unique_ptr<ConvolutionOperator> make(const ConvolutionShape& shape,
                                                      ConvolutionAlgorithm algorithm) = 0;

    /// Normalised pixels (images, C·H·W) as the input of an operator with `of_pixels`.
    virtual void load_pixels(const ImageBatch& batch, const ImageShape& shape,
                             std::byte* x) const = 0;
    virtual std::size_t pixel_bytes(int images, const ImageShape& shape) const = 0;

    /// Memory that the operators of these shapes will share, whatever the algorithm.
    virtual std::size_t estimate_workspace(std::span<const ConvolutionShape> shapes) const = 0;
    virtual std::size_t workspace_bytes() const = 0;      ///< that they have taken so far
    virtual std::size_t activation_reorders() const = 0;  ///< copies into another layout so far
};

enum class ConvolutionLibrary { onednn, openblas };

/// The libraries that this build and this CPU can use well for `kernels`, the best first.
/// oneDNN needs AVX2: below that it falls to its reference kernels.
std::vector<ConvolutionLibrary> convolution_libraries(const Kernels& kernels, Precision precision);

/// order: of activations, with oneDNN: blocks or channels_last. Nothing: the faster on this CPU.
/// Error: `library` isn't among convolution_libraries().
std::unique_ptr<ConvolutionEngine> make_convolution_engine(
    ConvolutionLibrary library, const Kernels& kernels, Precision precision,
    std::optional<ActivationOrder> order = std::nullopt);

/// One line of the table of measurements that operators made with `measured` left behind.
struct ConvolutionChoice {
    ConvolutionShape shape;
    std::string pass;            ///< "forward", "data" or "weights"
    std::string algorithm;       ///< "direct", "Winograd" …
    std::string implementation;  ///< oneDNN's name of the chosen kernel
    double seconds = 0;          ///< of a batch, with the threads that were available
    double other_seconds = 0;    ///< of the best other one
    double error = 0;  ///< against direct by norm: of the chosen, or of the only other one
};

/// Of this process, in the order of measurement.
std::vector<ConvolutionChoice> convolution_choices();

}  // namespace wasp
