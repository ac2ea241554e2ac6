#include "gemm_engine.hpp"

#include <cblas.h>

#include <algorithm>

#include "gemm_convolution.hpp"
#include "pixels.hpp"
#include "tensor/parallel.hpp"

namespace wasp {

std::string GemmEngine::name() const {
    return std::string("OpenBLAS ") + openblas_get_corename();
}

std::unique_ptr<ConvolutionOperator> GemmEngine::make(const ConvolutionShape& shape,
                                                      ConvolutionAlgorithm /*algorithm*/) {
    return std::make_unique<GemmConvolution>(*this, shape);
}

std::size_t GemmEngine::pixel_bytes(int images, const ImageShape& shape) const {
    return static_cast<std::size_t>(images) * shape.pixels() * sizeof(float);
}

void GemmEngine::load_pixels(const ImageBatch& batch, const ImageShape& shape, std::byte* x) const {
    const auto channels = static_cast<std::size_t>(shape.channels);
    const std::size_t area = shape.pixels() / channels, images = batch.size();
    auto* pixels = reinterpret_cast<float*>(x);
    parallel_ranges(images, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t c = 0; c < channels; ++c)
                normalise_channel(batch, shape, i, c, pixels + (c * images + i) * area, 1);
    });
}

std::size_t GemmEngine::estimate_workspace(std::span<const ConvolutionShape> shapes) const {
    std::size_t floats = 0;
    for (const auto& shape : shapes) floats = std::max(floats, GemmConvolution::columns(shape));
    return floats * sizeof(float);
}

void GemmEngine::provide(std::size_t floats) {
    if (floats * sizeof(float) > columns_.size()) columns_ = HugeBuffer(floats * sizeof(float));
}

}  // namespace wasp
