#include "onednn_weights.hpp"

#include <array>

#include "onednn_engine.hpp"
#include "tensor/parallel.hpp"

namespace wasp {

namespace {

/// If `wanted` is a matrix of our blocks.
std::optional<WeightBlocks> as_blocks(const dnnl::memory::desc& wanted,
                                      const ConvolutionShape& shape, int lanes) {
    const auto& layout = wanted.data;
    const auto& blocking = layout.format_desc.blocking;
    if (layout.format_kind != dnnl_blocked || layout.data_type != dnnl_f32 ||
        blocking.inner_nblks != 2 || blocking.inner_blks[0] != lanes ||
        blocking.inner_blks[1] != lanes || blocking.inner_idxs[0] + blocking.inner_idxs[1] != 1)
        return std::nullopt;
    const dnnl_dim_t square = dnnl_dim_t{lanes} * lanes;
    if (shape.outputs % lanes != 0 || shape.inputs % lanes != 0 || blocking.strides[3] != square ||
        blocking.strides[2] != shape.kernel * square)
        return std::nullopt;
    return WeightBlocks{.outputs = shape.outputs,
                        .inputs = shape.inputs,
                        .area = shape.kernel * shape.kernel,
                        .output_step = blocking.strides[0],
                        .input_step = blocking.strides[1],
                        .input_inside = blocking.inner_idxs[1] == 1};
}

}  // namespace

OnednnWeights::OnednnWeights(const dnnl::engine& engine, const dnnl::memory::desc& wanted,
                             const ConvolutionShape& shape, const Kernels& kernels, bool gradient)
    : bytes_(wanted.get_size()),
      kernels_(kernels.channels),
      output_blocks_(shape.outputs / kernels.lanes),
      blocks_(as_blocks(wanted, shape, kernels.lanes)) {
    if (blocks_ && gradient && blocks_->input_inside) blocks_.reset();
    if (blocks_) return;
    const dnnl::memory::desc flat({shape.outputs, shape.inputs, shape.kernel, shape.kernel},
                                  dnnl::memory::data_type::f32, dnnl::memory::format_tag::oihw);
    const auto& from = gradient ? wanted : flat;
    const auto& to = gradient ? flat : wanted;
    reorder_ = dnnl::reorder({engine, from, engine, to});
    from_ = dnnl::memory(from, engine, nullptr);
    to_ = dnnl::memory(to, engine, nullptr);
}

void OnednnWeights::pack(const dnnl::stream& stream, const float* flat, std::byte* packed) const {
    if (!blocks_) {
        reorder(stream, const_cast<float*>(flat), packed);
        return;
    }
    parallel_ranges(static_cast<std::size_t>(output_blocks_), 1,
                    [&](std::size_t begin, std::size_t end) {
                        for (std::size_t o = begin; o < end; ++o)
                            kernels_->pack_weights(*blocks_, static_cast<int>(o), flat,
                                                   reinterpret_cast<float*>(packed));
                    });
}

void OnednnWeights::unpack(const dnnl::stream& stream, const std::byte* packed, float* flat) const {
    if (!blocks_) {
        reorder(stream, const_cast<std::byte*>(packed), flat);
        return;
    }
    parallel_ranges(static_cast<std::size_t>(output_blocks_), 1,
                    [&](std::size_t begin, std::size_t end) {
                        for (std::size_t o = begin; o < end; ++o)
                            kernels_->unpack_weights(*blocks_, static_cast<int>(o),
                                                     reinterpret_cast<const float*>(packed), flat);
                    });
}

void OnednnWeights::reorder(const dnnl::stream& stream, void* from, void* to) const {
    execute<2>(stream, reorder_,
               {{{DNNL_ARG_FROM, point(from_, from)}, {DNNL_ARG_TO, point(to_, to)}}});
}

}  // namespace wasp
