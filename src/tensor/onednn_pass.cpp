#include "onednn_pass.hpp"

namespace wasp {

namespace {

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

dnnl::memory::data_type type_of(Precision precision) {
    return precision == Precision::bf16 ? dnnl::memory::data_type::bf16
                                        : dnnl::memory::data_type::f32;
}

Tag tag_of(const ActivationLayout& layout) {
    if (layout.order == ActivationOrder::channels_last) return Tag::nhwc;
    return layout.block == 16 ? Tag::nChw16c : Tag::nChw8c;
}

/// Along a side of one pixel any stride is the same, and with 2 oneDNN 2.6's gradient of the
/// weights in bf16 is wrong.
dnnl::memory::dim stride_along(int side, const ConvolutionShape& shape) {
    return side == 1 ? 1 : shape.stride;
}

ArgumentNames names_of(ConvolutionPass kind) {
    switch (kind) {
        case ConvolutionPass::forward:
            return {DNNL_ARG_SRC, DNNL_ARG_DST, DNNL_ARG_WEIGHTS};
        case ConvolutionPass::data:
            return {DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS};
        case ConvolutionPass::weights:
            break;
    }
    return {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS};
}

struct Convolutions {
    using Forward = dnnl::convolution_forward;
    using Data = dnnl::convolution_backward_data;
    using Weights = dnnl::convolution_backward_weights;
};
struct InnerProducts {
    using Forward = dnnl::inner_product_forward;
    using Data = dnnl::inner_product_backward_data;
    using Weights = dnnl::inner_product_backward_weights;
};

/// What oneDNN wants to know of a convolution, whichever pass.
struct ConvolutionProblem {
    dnnl::algorithm method;
    ConvolutionShape shape;
    WeightsUse use;
    Desc x, y, weights, weight_gradient;
    dnnl::memory::dims strides, padding;

    /// any_layout: of the activations, but for pixels; oneDNN chooses.
    ConvolutionProblem(const ActivationLayout& layout, const ConvolutionShape& of,
                       ConvolutionPass kind, ConvolutionAlgorithm algorithm, bool any_layout)
        : method(algorithm == ConvolutionAlgorithm::winograd ? dnnl::algorithm::convolution_winograd
                                                             : dnnl::algorithm::convolution_direct),
          shape(of),
          use(algorithm == ConvolutionAlgorithm::turned ? WeightsUse::turned
              : kind == ConvolutionPass::weights        ? WeightsUse::gradient
                                                        : WeightsUse::packed),
          strides{stride_along(shape.height, shape), stride_along(shape.width, shape)},
          padding{shape.padding(), shape.padding()} {
        const auto type = type_of(layout.precision);
        const auto tag = any_layout ? Tag::any : tag_of(layout);
        const bool plain_pixels = shape.of_pixels && layout.order != ActivationOrder::channels_last;
        x = Desc({shape.images, shape.inputs, shape.height, shape.width}, type,
                 plain_pixels ? Tag::nchw : tag);
        y = Desc({shape.images, shape.outputs, shape.output_height(), shape.output_width()}, type,
                 tag);
        const dnnl::memory::dims w{shape.outputs, shape.inputs, shape.kernel, shape.kernel};
        weights = Desc(w, type, Tag::any);
        weight_gradient = Desc(w, dnnl::memory::data_type::f32, Tag::any);
    }

    dnnl::convolution_forward::desc forward() const {
        return {
            dnnl::prop_kind::forward_training, method, x, weights, y, strides, padding, padding};
    }
    dnnl::convolution_backward_data::desc data() const {
        return {method, x, weights, y, strides, padding, padding};
    }
    dnnl::convolution_backward_weights::desc gradient() const {
        return {method, x, weight_gradient, y, strides, padding, padding};
    }
};

/// The same as a product: (windows, K·K·I) · (K·K·I, O). Of matrices, as long as blocks of inputs
/// cannot straddle two pixels of a window; else oneDNN has to know of the pixels, and is slower.
struct ProductProblem {
    ConvolutionShape shape;
    WeightsUse use;
    Desc x, y, weights, weight_gradient;

    ProductProblem(const ActivationLayout& layout, const ConvolutionShape& of, ConvolutionPass kind)
        : shape(of),
          use(kind == ConvolutionPass::weights ? WeightsUse::gradient : WeightsUse::packed) {
        const auto type = type_of(layout.precision);
        const dnnl::memory::dim windows = std::int64_t{shape.images} * shape.output_pixels();
        y = Desc({windows, shape.outputs}, type, Tag::nc);
        dnnl::memory::dims row{windows, shape.inputs}, w{shape.outputs, shape.inputs};
        const bool as_matrix = shape.kernel == 1 || shape.inputs % largest_weight_block == 0;
        if (as_matrix) {
            for (auto* dims : {&row, &w}) dims->back() *= shape.kernel * shape.kernel;
        } else {
            for (auto* dims : {&row, &w}) dims->insert(dims->end(), 2, shape.kernel);
        }
        x = Desc(row, type, as_matrix ? Tag::nc : Tag::nhwc);
        weights = Desc(w, type, Tag::any);
        weight_gradient = Desc(w, dnnl::memory::data_type::f32, Tag::any);
    }

    dnnl::inner_product_forward::desc forward() const {
        return {dnnl::prop_kind::forward_training, x, weights, y};
    }
    dnnl::inner_product_backward_data::desc data() const { return {x, weights, y}; }
    dnnl::inner_product_backward_weights::desc gradient() const { return {x, weight_gradient, y}; }
};

}  // namespace

std::string_view name_of(ConvolutionAlgorithm algorithm) {
    switch (algorithm) {
        case ConvolutionAlgorithm::measured:
            return "measured";
        case ConvolutionAlgorithm::direct:
            return "direct";
        case ConvolutionAlgorithm::winograd:
            return "Winograd";
        case ConvolutionAlgorithm::product:
            return "product";
        case ConvolutionAlgorithm::turned:
            break;
    }
    return "turned";
}

std::vector<ConvolutionAlgorithm> possible_algorithms(const ActivationLayout& layout,
                                                      ConvolutionPass kind,
                                                      const ConvolutionShape& shape) {
    std::vector<ConvolutionAlgorithm> algorithms{ConvolutionAlgorithm::direct};
    if (layout.order == ActivationOrder::channels_last) {
        if (kind != ConvolutionPass::data || shape.kernel == 1)
            algorithms.push_back(ConvolutionAlgorithm::product);
        if (kind == ConvolutionPass::data && shape.stride == 1)
            algorithms.push_back(ConvolutionAlgorithm::turned);
    } else if (layout.precision == Precision::float32 && shape.kernel == 3 && shape.stride == 1 &&
               !shape.of_pixels) {
        algorithms.push_back(ConvolutionAlgorithm::winograd);
    }
    return algorithms;
}

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

OnednnOperand::OnednnOperand(const dnnl::engine& engine, const Windows& windows, const Desc& wanted,
                             bool result)
    : wanted_(wanted, engine, nullptr),
      windows_(windows),
      wanted_bytes_(windows.bytes()),
      result_(result) {}

dnnl_memory_t OnednnOperand::before(const dnnl::stream& stream, const std::byte* data,
                                    std::byte* copy) const {
    if (!copied()) return point(given_, data);
    if (!result_ && windows_)
        windows_->gather(data, copy);
    else if (!result_)
        execute<2>(stream, reorder_,
                   {{{DNNL_ARG_FROM, point(given_, data)}, {DNNL_ARG_TO, point(wanted_, copy)}}});
    return point(wanted_, copy);
}

void OnednnOperand::after(const dnnl::stream& stream, const std::byte* data,
                          std::byte* copy) const {
    if (!copied() || !result_) return;
    if (windows_)
        windows_->scatter(copy, const_cast<std::byte*>(data));
    else
        execute<2>(stream, reorder_,
                   {{{DNNL_ARG_FROM, point(wanted_, copy)}, {DNNL_ARG_TO, point(given_, data)}}});
}

std::optional<OnednnPass> OnednnPass::make(const OnednnEngine& engine, ConvolutionPass kind,
                                           const ConvolutionShape& shape,
                                           ConvolutionAlgorithm algorithm) {
    if (algorithm == ConvolutionAlgorithm::product) return product(engine, kind, shape);
    if (algorithm == ConvolutionAlgorithm::turned) {
        ConvolutionShape adjoint = shape;
        std::swap(adjoint.inputs, adjoint.outputs);
        return convolution(engine, ConvolutionPass::forward, adjoint, algorithm, false);
    }
    auto pass = convolution(engine, kind, shape, algorithm, false);
    if (!pass || !pass->is_reference()) return pass;
    auto other = convolution(engine, kind, shape, algorithm, true);
    return other && !other->is_reference() ? std::move(other) : std::move(pass);
}

std::optional<OnednnPass> OnednnPass::convolution(const OnednnEngine& engine, ConvolutionPass kind,
                                                  const ConvolutionShape& shape,
                                                  ConvolutionAlgorithm algorithm, bool any_layout) {
    const ConvolutionProblem given(engine.layout(), shape, kind, algorithm, false);
    const ConvolutionProblem problem(engine.layout(), shape, kind, algorithm, any_layout);
    return assemble<Convolutions>(
        engine, kind, problem,
        [&](const Desc& wanted, bool result) {
            return OnednnOperand(engine.engine(), given.x, wanted, result);
        },
        [&](const Desc& wanted, bool result) {
            return OnednnOperand(engine.engine(), given.y, wanted, result);
        });
}

std::optional<OnednnPass> OnednnPass::product(const OnednnEngine& engine, ConvolutionPass kind,
                                              const ConvolutionShape& shape) {
    const ProductProblem problem(engine.layout(), shape, kind);
    return assemble<InnerProducts>(
        engine, kind, problem,
        [&](const Desc& wanted, bool result) {
            if (is_product(shape)) return OnednnOperand(engine.engine(), problem.x, wanted, result);
            return OnednnOperand(engine.engine(), Windows(shape, engine.layout().element()), wanted,
                                 result);
        },
        [&](const Desc& wanted, bool result) {
            return OnednnOperand(engine.engine(), problem.y, wanted, result);
        });
}

template <class Family, class Problem, class OperandX, class OperandY>
std::optional<OnednnPass> OnednnPass::assemble(const OnednnEngine& engine, ConvolutionPass kind,
                                               const Problem& problem, OperandX operand_x,
                                               OperandY operand_y) {
    constexpr bool or_nothing = true, read = false, written = true;
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const typename Family::Forward::primitive_desc forward(problem.forward(), attributes,
                                                           engine.engine(), or_nothing);
    if (!forward) return std::nullopt;

    OnednnPass pass;
    const auto finish = [&](const auto& description, const OnednnOperand& first,
                            const OnednnOperand& second, const Desc& weights) {
        pass.names_ = names_of(kind);
        pass.implementation_ = description.impl_info_str();
        pass.weights_ =
            OnednnWeights(engine.engine(), weights, problem.shape, engine.kernels(), problem.use);
        pass.first_ = first;
        pass.second_ = second;
        pass.packed_ = dnnl::memory(weights, engine.engine(), nullptr);
        pass.scratch_ = dnnl::memory(description.scratchpad_desc(), engine.engine(), nullptr);
        pass.stream_ = engine.stream();
    };
    switch (kind) {
        case ConvolutionPass::forward:
            finish(forward, operand_x(forward.src_desc(), read),
                   operand_y(forward.dst_desc(), written), forward.weights_desc());
            pass.primitive_ = typename Family::Forward(forward);
            break;
        case ConvolutionPass::data: {
            const typename Family::Data::primitive_desc data(problem.data(), attributes,
                                                             engine.engine(), forward, or_nothing);
            if (!data) return std::nullopt;
            finish(data, operand_y(data.diff_dst_desc(), read),
                   operand_x(data.diff_src_desc(), written), data.weights_desc());
            pass.primitive_ = typename Family::Data(data);
            break;
        }
        case ConvolutionPass::weights: {
            const typename Family::Weights::primitive_desc gradient(
                problem.gradient(), attributes, engine.engine(), forward, or_nothing);
            if (!gradient) return std::nullopt;
            finish(gradient, operand_x(gradient.src_desc(), read),
                   operand_y(gradient.diff_dst_desc(), read), gradient.diff_weights_desc());
            pass.primitive_ = typename Family::Weights(gradient);
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
               {{{names_.first, first_.before(stream_, first, first_copy)},
                 {names_.second, second_.before(stream_, second, second_copy)},
                 {names_.weights, point(packed_, packed)},
                 {DNNL_ARG_SCRATCHPAD, point(scratch_, scratch)}}});
    second_.after(stream_, second, second_copy);
}

}  // namespace wasp
