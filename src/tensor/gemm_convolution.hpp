/// Private to tensor: a convolution as products of matrices.
#pragma once

#include "gemm_engine.hpp"

namespace wasp {

class GemmConvolution final : public ConvolutionOperator {
public:
    GemmConvolution(GemmEngine& engine, const ConvolutionShape& shape);

    /// Floats of the workspace that an operator of that shape needs.
    static std::size_t columns(const ConvolutionShape& shape);

    void forward(int images, const std::byte* x, const float* weights, std::byte* y) override;
    void backward_data(int images, const std::byte* dy, const float* weights,
                       std::byte* dx) override;
    void backward_weights(int images, const std::byte* x, const std::byte* dy,
                          float* gradient) override;

private:
    /// Images [first, first + count) of a batch.
    struct Chunk {
        int batch, first, count;
    };
    template <class Body>
    void for_each_chunk(int images, Body body) const;

    void unroll(const Chunk& chunk, const float* x, float* columns) const;
    void add_back(const Chunk& chunk, const float* columns, float* dx) const;

    int window() const { return shape_.inputs * shape_.kernel * shape_.kernel; }

    GemmEngine& engine_;
    ConvolutionShape shape_;
};

}  // namespace wasp
