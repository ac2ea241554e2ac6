/// Private to tensor: weights between PyTorch's order and the one that a primitive of oneDNN wants.
#pragma once

#include <cstddef>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

#include "channel_kernels.hpp"
#include "tensor/convolution_operator.hpp"

namespace wasp {

/// Blocks of block × block go through our kernels, everything else (the layer of pixels, bf16)
/// through a reorder primitive.
class OnednnWeights {
public:
    OnednnWeights() = default;
    /// gradient: unpack() will be called, else pack().
    OnednnWeights(const dnnl::engine& engine, const dnnl::memory::desc& wanted,
                  const ConvolutionShape& shape, const Kernels& kernels, bool gradient);

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
};

}  // namespace wasp
