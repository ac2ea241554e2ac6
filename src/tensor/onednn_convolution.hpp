/// Private to tensor: a convolution by oneDNN.
#pragma once

#include <array>
#include <list>
#include <optional>
#include <string>

#include "onednn_engine.hpp"
#include "onednn_weights.hpp"

namespace wasp {

enum class ConvolutionPass { forward, data, weights };

/// One primitive, for one number of images and of threads.
class OnednnPass {
public:
    /// Nothing where oneDNN has no such algorithm for the shape.
    static std::optional<OnednnPass> make(const OnednnEngine& engine, ConvolutionPass kind,
                                          const ConvolutionShape& shape, bool winograd);

    /// Forward: x, y. Data: dy, dx. Weights: x, dy.   packed: the weights, or their gradient
    void run(const std::byte* first, const std::byte* second, const std::byte* packed,
             const std::byte* scratch) const;
    const OnednnWeights& weights() const { return weights_; }
    std::size_t scratch_bytes() const { return scratch_.get_desc().get_size(); }
    const std::string& implementation() const { return implementation_; }

private:
    OnednnPass() = default;

    dnnl::stream stream_;
    dnnl::primitive primitive_;
    OnednnWeights weights_;
    int first_name_ = 0, second_name_ = 0, weights_name_ = 0;
    dnnl::memory first_, second_, packed_, scratch_;
    std::string implementation_;
};

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

    OnednnEngine& engine_;
    ConvolutionShape shape_;
    std::array<bool, 3> winograd_{};
    std::list<Plan> plans_;  // the last mini-batch of an epoch and evaluation bring other sizes
};

}  // namespace wasp
