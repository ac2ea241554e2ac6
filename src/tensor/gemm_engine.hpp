/// Private to tensor: convolutions as products of matrices, on OpenBLAS.
#pragma once

#include "base/huge_buffer.hpp"
#include "tensor/convolution_operator.hpp"

namespace wasp {

/// Activations are (C,N,H,W): a 1×1 convolution of a batch is one product, (O,I)·(I,N·H·W).
/// Others unroll the windows of a few images at a time into the workspace (im2col).
class GemmEngine final : public ConvolutionEngine {
public:
    std::string name() const override;
    ActivationLayout layout() const override { return {}; }
    std::unique_ptr<ConvolutionOperator> make(const ConvolutionShape& shape,
                                              ConvolutionAlgorithm algorithm) override;
    void load_pixels(const ImageBatch& batch, const ImageShape& shape, std::byte* x) const override;
    std::size_t pixel_bytes(int images, const ImageShape& shape) const override;
    std::size_t estimate_workspace(std::span<const ConvolutionShape> shapes) const override;
    std::size_t workspace_bytes() const override { return columns_.size(); }
    std::size_t activation_reorders() const override { return 0; }

    void provide(std::size_t floats);
    float* columns() const { return reinterpret_cast<float*>(columns_.data()); }

private:
    HugeBuffer columns_;
};

}  // namespace wasp
