#include "onednn_engine.hpp"

#include <algorithm>

#include "onednn_convolution.hpp"
#include "pixels.hpp"
#include "tensor/parallel.hpp"

namespace wasp {

namespace {

bool cpu_has(dnnl::cpu_isa wanted) {
    const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
    return (isa & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted);
}

}  // namespace

bool onednn_suits(const Kernels& kernels, Precision precision) {
    if (precision == Precision::bf16)  // elsewhere it is slower than float32
        return kernels.lanes == 16 && cpu_has(dnnl::cpu_isa::avx512_core_bf16);
    return kernels.lanes == 16
               ? cpu_has(dnnl::cpu_isa::avx512_core)
               : kernels.name != std::string_view("avx") && cpu_has(dnnl::cpu_isa::avx2);
}

ActivationOrder onednn_order(Precision precision) {
    return precision == Precision::bf16 && cpu_has(dnnl::cpu_isa::avx512_core_amx)
               ? ActivationOrder::channels_last
               : ActivationOrder::blocks;
}

OnednnEngine::OnednnEngine(const Kernels& kernels, Precision precision, ActivationOrder order)
    : kernels_(kernels),
      layout_{.order = order, .block = kernels.lanes, .precision = precision},
      engine_(dnnl::engine::kind::cpu, 0),
      stream_(engine_) {}

std::string OnednnEngine::name() const {
    const auto* version = dnnl::version();
    return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
}

std::unique_ptr<ConvolutionOperator> OnednnEngine::make(const ConvolutionShape& shape,
                                                        ConvolutionAlgorithm algorithm) {
    return std::make_unique<OnednnConvolution>(*this, shape, algorithm);
}

std::size_t OnednnEngine::pixel_bytes(int images, const ImageShape& shape) const {
    return static_cast<std::size_t>(images) * shape.pixels() * layout_.element();
}

void OnednnEngine::load_pixels(const ImageBatch& batch, const ImageShape& shape,
                               std::byte* x) const {
    const auto channels = static_cast<std::size_t>(shape.channels);
    const std::size_t area = shape.pixels() / channels;
    const bool last = layout_.order == ActivationOrder::channels_last;  // else (N,C,H,W)
    const std::size_t step = last ? channels : 1;
    parallel_ranges(batch.size() * channels, channels, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) {
            const std::size_t image = k / channels, channel = k % channels;
            const std::size_t at = last ? image * shape.pixels() + channel : k * area;
            if (layout_.precision == Precision::bf16)
                normalise_channel(batch, shape, image, channel, reinterpret_cast<Bf16*>(x) + at,
                                  step);
            else
                normalise_channel(batch, shape, image, channel, reinterpret_cast<float*>(x) + at,
                                  step);
        }
    });
}

std::size_t OnednnEngine::estimate_workspace(std::span<const ConvolutionShape> shapes) const {
    std::size_t weights = 0, scratch = 0;
    for (const auto& shape : shapes)
        for (const auto kind :
             {ConvolutionPass::forward, ConvolutionPass::data, ConvolutionPass::weights}) {
            if (kind == ConvolutionPass::data && shape.of_pixels) continue;
            for (const auto algorithm : possible_algorithms(layout_, kind, shape)) {
                const auto pass = OnednnPass::make(*this, kind, shape, algorithm);
                if (!pass) continue;
                weights = std::max(weights, pass->weights().bytes());
                scratch = std::max(scratch, pass->scratch_bytes());
            }
        }
    return weights + scratch;
}

void OnednnEngine::provide(std::size_t weights, std::size_t scratch) {
    if (weights > weights_.size()) weights_ = HugeBuffer(weights);
    if (scratch > scratch_.size()) scratch_ = HugeBuffer(scratch);
}

}  // namespace wasp
