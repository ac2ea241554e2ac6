#include "tensor/convolution_operator.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "gemm_engine.hpp"
#ifdef HAVE_ONEDNN
#include "onednn_engine.hpp"
#endif

namespace wasp {

std::size_t ConvolutionShape::weights() const {
    return static_cast<std::size_t>(outputs) * static_cast<std::size_t>(inputs) *
           static_cast<std::size_t>(kernel * kernel);
}

double ConvolutionShape::multiplications() const {
    return static_cast<double>(weights()) * output_pixels();
}

std::vector<ConvolutionLibrary> convolution_libraries([[maybe_unused]] const Kernels& kernels,
                                                      Precision precision) {
    std::vector<ConvolutionLibrary> libraries;
#ifdef HAVE_ONEDNN
    if (onednn_suits(kernels, precision)) libraries.push_back(ConvolutionLibrary::onednn);
#endif
    if (precision == Precision::float32) libraries.push_back(ConvolutionLibrary::openblas);
    return libraries;
}

std::unique_ptr<ConvolutionEngine> make_convolution_engine(
    ConvolutionLibrary library, const Kernels& kernels, Precision precision,
    [[maybe_unused]] std::optional<ActivationOrder> order) {
    const auto known = convolution_libraries(kernels, precision);
    REQUIRE(std::ranges::find(known, library) != known.end(),
            "no convolutions in {} with {} kernels by {}: not in this build, or not on this CPU",
            precision == Precision::bf16 ? "bf16" : "float32", kernels.name,
            library == ConvolutionLibrary::onednn ? "oneDNN" : "OpenBLAS");
#ifdef HAVE_ONEDNN
    if (library == ConvolutionLibrary::onednn)
        return std::make_unique<OnednnEngine>(kernels, precision,
                                              order.value_or(onednn_order(precision)));
#endif
    return std::make_unique<GemmEngine>();
}

#ifndef HAVE_ONEDNN
std::vector<ConvolutionChoice> convolution_choices() {
    return {};
}
#endif

}  // namespace wasp
