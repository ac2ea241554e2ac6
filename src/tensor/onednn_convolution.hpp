/// Private to tensor: a convolution by oneDNN.
#pragma once

#include <array>
#include <list>
#include <optional>

#include "onednn_pass.hpp"

namespace wasp {

class OnednnConvolution final : public ConvolutionOperator {
public:
    OnednnConvolution(OnednnEngine& engine, const ConvolutionShape& shape,
                      ConvolutionAlgorithm algorithm);

    void forward(int images, const std::byte* x, const float* weights, std::byte* y) override;
    void backward_data(int images, const std::byte* dy, const float* weights,
                       std::byte* dx) override;
    void backward_weights(int images, const std::byte* x, const std::byte* dy,
                          float* gradient) override;

private:
    /// The passes for one number of images and of threads, made when they are first wanted.
    struct Plan {
        int images, threads;
        std::array<std::optional<OnednnPass>, 3> passes;
    };
    const OnednnPass& pass(ConvolutionPass kind, int images);
    void run(const OnednnPass& pass, const std::byte* first, const std::byte* second);

    OnednnEngine& engine_;
    ConvolutionShape shape_;
    std::array<ConvolutionAlgorithm, 3> algorithms_{};
    std::list<Plan> plans_;  // the last mini-batch of an epoch and evaluation bring other sizes
};

}  // namespace wasp
