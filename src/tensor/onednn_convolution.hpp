/// Private to tensor: a convolution by oneDNN.
#pragma once

#include <array>
#include <list>
#include <optional>
#include <string>

#include "base/aligned.hpp"
#include "onednn_engine.hpp"
#include "onednn_weights.hpp"

namespace wasp {

enum class ConvolutionPass { forward, data, weights };

/// An operand of activations: in the engine's layout, or copied between that and the one that the
/// primitive wants.
class OnednnOperand {
public:
    OnednnOperand() = default;
    /// result: what the primitive writes, else what it reads.
    OnednnOperand(const dnnl::engine& engine, const dnnl::memory::desc& given,
                  const dnnl::memory::desc& wanted, bool result);

    bool reordered() const { return static_cast<bool>(reorder_); }
    std::size_t copy_bytes() const { return reordered() ? whole_lines(wanted_bytes_) : 0; }
    /// What the primitive is to be given, before it runs, and what is to be done after.
    /// copy: memory of copy_bytes().
    dnnl_memory_t before(const dnnl::stream& stream, const std::byte* data, std::byte* copy) const;
    void after(const dnnl::stream& stream, const std::byte* data, std::byte* copy) const;

private:
    dnnl::memory given_, wanted_;
    dnnl::reorder reorder_;
    std::size_t wanted_bytes_ = 0;
    bool result_ = false;
};

/// One primitive, for one number of images and of threads.
class OnednnPass {
public:
    /// Nothing where oneDNN has no such algorithm for the shape. Where it has but its reference
    /// kernel for the engine's layout, and better for another one, activations are reordered.
    static std::optional<OnednnPass> make(const OnednnEngine& engine, ConvolutionPass kind,
                                          const ConvolutionShape& shape, bool winograd);

    /// Forward: x, y. Data: dy, dx. Weights: x, dy.   packed: the weights, or their gradient
    void run(const std::byte* first, const std::byte* second, const std::byte* packed,
             std::byte* scratch) const;
    const OnednnWeights& weights() const { return weights_; }
    /// Of the primitive, and for operands in its layout.
    std::size_t scratch_bytes() const;
    std::size_t reorders() const;  ///< of activations, in a run
    const std::string& implementation() const { return implementation_; }

private:
    OnednnPass() = default;
    static std::optional<OnednnPass> make_with(const OnednnEngine& engine, ConvolutionPass kind,
                                               const ConvolutionShape& shape, bool winograd,
                                               bool any_layout);
    bool is_reference() const { return implementation_.starts_with("ref"); }

    dnnl::stream stream_;
    dnnl::primitive primitive_;
    OnednnWeights weights_;
    int first_name_ = 0, second_name_ = 0, weights_name_ = 0;
    OnednnOperand first_, second_;
    dnnl::memory packed_, scratch_;
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
    void run(const OnednnPass& pass, const std::byte* first, const std::byte* second);

    OnednnEngine& engine_;
    ConvolutionShape shape_;
    std::array<bool, 3> winograd_{};
    std::list<Plan> plans_;  // the last mini-batch of an epoch and evaluation bring other sizes
};

}  // namespace wasp
