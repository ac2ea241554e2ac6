#include "onednn_convolution.hpp"

#include <algorithm>

#include "onednn_choice.hpp"
#include "tensor/parallel.hpp"

namespace wasp {

OnednnConvolution::OnednnConvolution(OnednnEngine& engine, const ConvolutionShape& shape,
                                     ConvolutionAlgorithm algorithm)
    : engine_(engine), shape_(shape) {
    for (const auto kind :
         {ConvolutionPass::forward, ConvolutionPass::data, ConvolutionPass::weights}) {
        if (kind == ConvolutionPass::data && shape.of_pixels) continue;
        algorithms_[static_cast<std::size_t>(kind)] =
            choose_algorithm(engine, kind, shape, algorithm);
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
        pass = OnednnPass::make(engine_, kind, shape, algorithms_[index]);
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
