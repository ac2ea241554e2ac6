#include "onednn_convolution.hpp"

#include <algorithm>

#include "onednn_choice.hpp"
#include "tensor/parallel.hpp"

namespace wasp {

namespace {

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

/// What oneDNN wants to know of a convolution, whichever pass.
struct Problem {
    dnnl::algorithm algorithm;
    Desc x, y, weights, weight_gradient;
    dnnl::memory::dims strides, padding;

    /// any_layout: of the activations, but for pixels; oneDNN chooses.
    Problem(const ActivationLayout& layout, const ConvolutionShape& shape, bool winograd,
            bool any_layout)
        : algorithm(winograd ? dnnl::algorithm::convolution_winograd
                             : dnnl::algorithm::convolution_direct),
          strides{shape.stride, shape.stride},
          padding{shape.padding(), shape.padding()} {
        const auto type = layout.precision == Precision::bf16 ? dnnl::memory::data_type::bf16
                                                              : dnnl::memory::data_type::f32;
        const auto tag = any_layout ? Tag::any : layout.block == 16 ? Tag::nChw16c : Tag::nChw8c;
        x = Desc({shape.images, shape.inputs, shape.height, shape.width}, type,
                 shape.of_pixels ? Tag::nchw : tag);
        y = Desc({shape.images, shape.outputs, shape.output_height(), shape.output_width()}, type,
                 tag);
        const dnnl::memory::dims w{shape.outputs, shape.inputs, shape.kernel, shape.kernel};
        weights = Desc(w, type, Tag::any);
        weight_gradient = Desc(w, dnnl::memory::data_type::f32, Tag::any);
    }

    dnnl::convolution_forward::desc forward() const {
        return {
            dnnl::prop_kind::forward_training, algorithm, x, weights, y, strides, padding, padding};
    }
    dnnl::convolution_backward_data::desc data() const {
        return {algorithm, x, weights, y, strides, padding, padding};
    }
    dnnl::convolution_backward_weights::desc gradient() const {
        return {algorithm, x, weight_gradient, y, strides, padding, padding};
    }
};

}  // namespace

OnednnOperand::OnednnOperand(const dnnl::engine& engine, const Desc& given, const Desc& wanted,
                             bool result)
    : given_(given, engine, nullptr),
      wanted_(wanted, engine, nullptr),
      wanted_bytes_(wanted.get_size()),
      result_(result) {
    if (given == wanted) return;
    reorder_ = result ? dnnl::reorder({engine, wanted, engine, given})
                      : dnnl::reorder({engine, given, engine, wanted});
}

dnnl_memory_t OnednnOperand::before(const dnnl::stream& stream, const std::byte* data,
                                    std::byte* copy) const {
    if (!reordered()) return point(given_, data);
    if (!result_)
        execute<2>(stream, reorder_,
                   {{{DNNL_ARG_FROM, point(given_, data)}, {DNNL_ARG_TO, point(wanted_, copy)}}});
    return point(wanted_, copy);
}

void OnednnOperand::after(const dnnl::stream& stream, const std::byte* data,
                          std::byte* copy) const {
    if (!reordered() || !result_) return;
    execute<2>(stream, reorder_,
               {{{DNNL_ARG_FROM, point(wanted_, copy)}, {DNNL_ARG_TO, point(given_, data)}}});
}

std::optional<OnednnPass> OnednnPass::make(const OnednnEngine& engine, ConvolutionPass kind,
                                           const ConvolutionShape& shape, bool winograd) {
    auto pass = make_with(engine, kind, shape, winograd, false);
    if (!pass || !pass->is_reference()) return pass;
    auto other = make_with(engine, kind, shape, winograd, true);
    return other && !other->is_reference() ? std::move(other) : std::move(pass);
}

std::optional<OnednnPass> OnednnPass::make_with(const OnednnEngine& engine, ConvolutionPass kind,
                                                const ConvolutionShape& shape, bool winograd,
                                                bool any_layout) {
    constexpr bool or_nothing = true;
    const Problem given(engine.layout(), shape, winograd, false);
    const Problem problem(engine.layout(), shape, winograd, any_layout);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::convolution_forward::primitive_desc forward(problem.forward(), attributes,
                                                            engine.engine(), or_nothing);
    if (!forward) return std::nullopt;

    OnednnPass pass;
    const auto finish = [&](const auto& description, const OnednnOperand& first,
                            const OnednnOperand& second, const Desc& weights) {
        pass.implementation_ = description.impl_info_str();
        pass.weights_ = OnednnWeights(engine.engine(), weights, shape, engine.kernels(),
                                      kind == ConvolutionPass::weights);
        pass.first_ = first;
        pass.second_ = second;
        pass.packed_ = dnnl::memory(weights, engine.engine(), nullptr);
        pass.scratch_ = dnnl::memory(description.scratchpad_desc(), engine.engine(), nullptr);
        pass.stream_ = engine.stream();
    };
    const auto read = [&](const Desc& in_our_layout, const Desc& wanted) {
        return OnednnOperand(engine.engine(), in_our_layout, wanted, false);
    };
    const auto written = [&](const Desc& in_our_layout, const Desc& wanted) {
        return OnednnOperand(engine.engine(), in_our_layout, wanted, true);
    };
    switch (kind) {
        case ConvolutionPass::forward:
            pass.first_name_ = DNNL_ARG_SRC;
            pass.second_name_ = DNNL_ARG_DST;
            pass.weights_name_ = DNNL_ARG_WEIGHTS;
            finish(forward, read(given.x, forward.src_desc()), written(given.y, forward.dst_desc()),
                   forward.weights_desc());
            pass.primitive_ = dnnl::convolution_forward(forward);
            break;
        case ConvolutionPass::data: {
            const dnnl::convolution_backward_data::primitive_desc data(
                problem.data(), attributes, engine.engine(), forward, or_nothing);
            if (!data) return std::nullopt;
            pass.first_name_ = DNNL_ARG_DIFF_DST;
            pass.second_name_ = DNNL_ARG_DIFF_SRC;
            pass.weights_name_ = DNNL_ARG_WEIGHTS;
            finish(data, read(given.y, data.diff_dst_desc()),
                   written(given.x, data.diff_src_desc()), data.weights_desc());
            pass.primitive_ = dnnl::convolution_backward_data(data);
            break;
        }
        case ConvolutionPass::weights: {
            const dnnl::convolution_backward_weights::primitive_desc gradient(
                problem.gradient(), attributes, engine.engine(), forward, or_nothing);
            if (!gradient) return std::nullopt;
            pass.first_name_ = DNNL_ARG_SRC;
            pass.second_name_ = DNNL_ARG_DIFF_DST;
            pass.weights_name_ = DNNL_ARG_DIFF_WEIGHTS;
            finish(gradient, read(given.x, gradient.src_desc()),
                   read(given.y, gradient.diff_dst_desc()), gradient.diff_weights_desc());
            pass.primitive_ = dnnl::convolution_backward_weights(gradient);
            break;
        }
    }
    return pass;
}

std::size_t OnednnPass::scratch_bytes() const {
    return whole_lines(scratch_.get_desc().get_size()) + first_.copy_bytes() + second_.copy_bytes();
}

std::size_t OnednnPass::reorders() const {
    return (first_.reordered() ? 1U : 0U) + (second_.reordered() ? 1U : 0U);
}

void OnednnPass::run(const std::byte* first, const std::byte* second, const std::byte* packed,
                     std::byte* scratch) const {
    std::byte* const first_copy = scratch + whole_lines(scratch_.get_desc().get_size());
    std::byte* const second_copy = first_copy + first_.copy_bytes();
    execute<4>(stream_, primitive_,
               {{{first_name_, first_.before(stream_, first, first_copy)},
                 {second_name_, second_.before(stream_, second, second_copy)},
                 {weights_name_, point(packed_, packed)},
                 {DNNL_ARG_SCRATCHPAD, point(scratch_, scratch)}}});
    second_.after(stream_, second, second_copy);
}

OnednnConvolution::OnednnConvolution(OnednnEngine& engine, const ConvolutionShape& shape,
                                     ConvolutionAlgorithm algorithm)
    : engine_(engine), shape_(shape) {
    for (const auto kind :
         {ConvolutionPass::forward, ConvolutionPass::data, ConvolutionPass::weights}) {
        if (kind == ConvolutionPass::data && shape.of_pixels) continue;
        winograd_[static_cast<std::size_t>(kind)] =
            prefers_winograd(engine, kind, shape, algorithm);
        pass(kind, shape.images);
    }
}

const OnednnPass& OnednnConvolution::pass(ConvolutionPass kind, int images) {
    const int threads = available_threads();
    const auto index = static_cast<std::size_t>(kind);
    auto plan = std::ranges::find_if(plans_, [&](const Plan& known) {
        return known.images == images && known.threads == threads;
    });
    if (plan == plans_.end())
        plan = plans_.insert(plan, {.images = images, .threads = threads, .passes = {}});
    auto& pass = plan->passes[index];
    if (!pass) {
        ConvolutionShape shape = shape_;
        shape.images = images;
        pass = OnednnPass::make(engine_, kind, shape, winograd_[index]);
        ENSURE(pass, "oneDNN has no convolution {}→{} {}×{}", shape.inputs, shape.outputs,
               shape.kernel, shape.kernel);
        engine_.provide(pass->weights().bytes(), pass->scratch_bytes());
    }
    return *pass;
}

void OnednnConvolution::run(const OnednnPass& pass, const std::byte* first,
                            const std::byte* second) {
    pass.run(first, second, engine_.weights(), engine_.scratch());
    engine_.count_activation_reorders(pass.reorders());
}

void OnednnConvolution::forward(int images, const std::byte* x, const float* weights,
                                std::byte* y) {
    const auto& pass = this->pass(ConvolutionPass::forward, images);
    pass.weights().pack(engine_.stream(), weights, engine_.weights());
    run(pass, x, y);
}

void OnednnConvolution::backward_data(int images, const std::byte* dy, const float* weights,
                                      std::byte* dx) {
    const auto& pass = this->pass(ConvolutionPass::data, images);
    pass.weights().pack(engine_.stream(), weights, engine_.weights());
    run(pass, dy, dx);
}

void OnednnConvolution::backward_weights(int images, const std::byte* x, const std::byte* dy,
                                         float* gradient) {
    const auto& pass = this->pass(ConvolutionPass::weights, images);
    run(pass, x, dy);
    pass.weights().unpack(engine_.stream(), engine_.weights(), gradient);
}

}  // namespace wasp
