#include "onednn_weights.hpp"

#include <algorithm>
#include <array>

#include "base/aligned.hpp"
#include "onednn_engine.hpp"
#include "tensor/parallel.hpp"

namespace wasp {

namespace {

/// If `wanted` is a matrix of our blocks.
std::optional<WeightBlocks> as_blocks(const dnnl::memory::desc& wanted,
                                      const ConvolutionShape& shape, int lanes) {
    const auto& layout = wanted.data;
    const auto& blocking = layout.format_desc.blocking;
    if (layout.format_kind != dnnl_blocked || layout.ndims != 4 || layout.data_type != dnnl_f32 ||
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

/// A matrix (O, K·K·I) in whatever blocks as what it is to us, (O,I,K,K).
dnnl::memory::desc with_kernel(const dnnl::memory::desc& matrix, const ConvolutionShape& shape) {
    dnnl::memory::desc all = matrix;
    auto& blocking = all.data.format_desc.blocking;
    dnnl_dim_t block = 1;
    for (int i = 0; i < blocking.inner_nblks; ++i)
        if (blocking.inner_idxs[i] == 1) block *= blocking.inner_blks[i];
    ENSURE(all.data.format_kind == dnnl_blocked && shape.inputs % block == 0,
           "oneDNN wants blocks of {} inputs in the weights of a product", block);
    all.data.ndims = 4;
    all.data.dims[1] = all.data.padded_dims[1] = shape.inputs;
    for (int i : {2, 3}) all.data.dims[i] = all.data.padded_dims[i] = shape.kernel;
    blocking.strides[3] = shape.inputs / block * blocking.strides[1];
    blocking.strides[2] = shape.kernel * blocking.strides[3];
    return all;
}

}  // namespace

OnednnWeights::OnednnWeights(const dnnl::engine& engine, const dnnl::memory::desc& given,
                             const ConvolutionShape& shape, const Kernels& kernels, WeightsUse use)
    : bytes_(given.get_size()),
      kernels_(kernels.channels),
      output_blocks_(shape.outputs / kernels.lanes),
      area_(shape.kernel * shape.kernel) {
    const bool gradient = use == WeightsUse::gradient;
    const auto wanted =
        shape.kernel > 1 && given.data.ndims == 2 ? with_kernel(given, shape) : given;
    if (use != WeightsUse::turned) blocks_ = as_blocks(wanted, shape, kernels.lanes);
    if (blocks_ && gradient && blocks_->input_inside) blocks_.reset();
    if (blocks_) return;
    const dnnl::memory::dim o = shape.outputs, i = shape.inputs, k = shape.kernel, area = k * k;
    dnnl::memory::dims steps{i * area, area, k, 1};
    if (use == WeightsUse::turned) {
        std::swap(steps[0], steps[1]);
        steps[1] = o * area;  // in the flat order our inputs are the outputs
        if (shape.kernel > 1) {
            turned_ = shape.weights();
            turned_at_ = whole_lines(bytes_);
            bytes_ = turned_at_ + turned_ * sizeof(float);
        }
    }
    steps.resize(wanted.dims().size());  // two, if the kernel is 1×1 and a product is wanted
    const dnnl::memory::desc flat(wanted.dims(), dnnl::memory::data_type::f32, steps);
    const auto& from = gradient ? wanted : flat;
    const auto& to = gradient ? flat : wanted;
    reorder_ = dnnl::reorder({engine, from, engine, to});
    from_ = dnnl::memory(from, engine, nullptr);
    to_ = dnnl::memory(to, engine, nullptr);
}

void OnednnWeights::pack(const dnnl::stream& stream, const float* flat, std::byte* packed) const {
    if (!blocks_) {
        if (turned_ > 0) {
            auto* turned = reinterpret_cast<float*>(packed + turned_at_);
            const auto area = static_cast<std::size_t>(area_);
            constexpr std::size_t grain = 256;  // kernels
            parallel_ranges(turned_ / area, grain, [&](std::size_t begin, std::size_t end) {
                for (std::size_t at = begin * area; at < end * area; at += area)
                    std::reverse_copy(flat + at, flat + at + area, turned + at);
            });
            flat = turned;
        }
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
