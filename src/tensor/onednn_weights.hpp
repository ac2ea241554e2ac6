/// Private to tensor: weights between PyTorch's order and the one that a primitive of oneDNN wants.
#pragma once

#include <cstddef>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

#include "channel_kernels.hpp"
#include "tensor/convolution_operator.hpp"

namespace wasp {

enum class WeightsUse {
    packed,    ///< (O,I,K,K) for the primitive
    turned,    ///< the same, but inputs are outputs, and each kernel is turned by 180°
    gradient,  ///< unpack() will be called, else pack()
};

/// No primitive wants larger blocks of inputs.
constexpr int largest_weight_block = 64;

/// Blocks of block × block go through our kernels, everything else (the layer of pixels, bf16)
/// through a reorder primitive.
class OnednnWeights {
public:
    OnednnWeights() = default;
    /// shape: as the primitive sees it. wanted: (O,I,K,K), or a matrix (O, K·K·I)
    OnednnWeights(const dnnl::engine& engine, const dnnl::memory::desc& wanted,
                  const ConvolutionShape& shape, const Kernels& kernels, WeightsUse use);

    void pack(const dnnl::stream& stream, const float* flat, std::byte* packed) const;
    void unpack(const dnnl::stream& stream, const std::byte* packed, float* flat) const;
    std::size_t bytes() const { return bytes_; }

private:
    void reorder(const dnnl::stream& stream, void* from, void* to) const;

    std::size_t bytes_ = 0;
    const ChannelKernels* kernels_ = nullptr;
    int output_blocks_ = 0;
    std::optional<WeightBlocks> blocks_;
    dnnl::reorder reorder_;
    dnnl::memory from_, to_;
    std::size_t turned_at_ = 0;  // where pack() lays down the flat weights with turned kernels
    std::size_t turned_ = 0;     // how many these are
    int area_ = 1;
};

}  // namespace wasp
