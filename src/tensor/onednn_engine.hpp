/// Private to tensor: what the operators on oneDNN share.
#pragma once

#include <oneapi/dnnl/dnnl_debug.h>
#include <array>
#include <oneapi/dnnl/dnnl.hpp>

#include "base/error.hpp"
#include "base/huge_buffer.hpp"
#include "tensor/convolution_operator.hpp"

namespace wasp {

/// Is this CPU one that oneDNN has fast kernels for, in the layout of `kernels`?
bool onednn_suits(const Kernels& kernels, Precision precision);
/// Of the activations that oneDNN's fastest kernels on this CPU take.
ActivationOrder onednn_order(Precision precision);

class OnednnEngine final : public ConvolutionEngine {
public:
    OnednnEngine(const Kernels& kernels, Precision precision, ActivationOrder order);

    std::string name() const override;
    ActivationLayout layout() const override { return layout_; }
    std::unique_ptr<ConvolutionOperator> make(const ConvolutionShape& shape,
                                              ConvolutionAlgorithm algorithm) override;
    void load_pixels(const ImageBatch& batch, const ImageShape& shape, std::byte* x) const override;
    std::size_t pixel_bytes(int images, const ImageShape& shape) const override;
    std::size_t estimate_workspace(std::span<const ConvolutionShape> shapes) const override;
    std::size_t workspace_bytes() const override { return weights_.size() + scratch_.size(); }
    std::size_t activation_reorders() const override { return activation_reorders_; }

    const Kernels& kernels() const { return kernels_; }
    const dnnl::engine& engine() const { return engine_; }
    const dnnl::stream& stream() const { return stream_; }

    /// One layer works at a time, so all share the memory of the largest.
    void provide(std::size_t weights, std::size_t scratch);
    std::byte* weights() const { return weights_.data(); }
    std::byte* scratch() const { return scratch_.data(); }
    void count_activation_reorders(std::size_t count) { activation_reorders_ += count; }

private:
    const Kernels& kernels_;
    ActivationLayout layout_;
    dnnl::engine engine_;
    dnnl::stream stream_;
    HugeBuffer weights_, scratch_;
    std::size_t activation_reorders_ = 0;
};

/// The same memory object at another place.
inline dnnl_memory_t point(const dnnl::memory& memory, const void* to) {
    memory.set_data_handle(const_cast<void*>(to));
    return memory.get();
}

/// Like primitive.execute(), but with the arguments on the stack instead of a map.
template <std::size_t N>
void execute(const dnnl::stream& stream, const dnnl::primitive& primitive,
             const std::array<dnnl_exec_arg_t, N>& arguments) {
    const auto status = dnnl_primitive_execute(primitive.get(), stream.get(), static_cast<int>(N),
                                               arguments.data());
    ENSURE(status == dnnl_success, "oneDNN: {}", dnnl_status2str(status));
}

}  // namespace wasp
