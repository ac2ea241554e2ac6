/// Private to tensor: one pass of a convolution by oneDNN, by one algorithm.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/aligned.hpp"
#include "onednn_engine.hpp"
#include "onednn_weights.hpp"
#include "onednn_windows.hpp"

namespace wasp {

enum class ConvolutionPass { forward, data, weights };

std::string_view name_of(ConvolutionAlgorithm algorithm);

/// Those that there may be for a pass, `direct` first.
std::vector<ConvolutionAlgorithm> possible_algorithms(const ActivationLayout& layout,
                                                      ConvolutionPass kind,
                                                      const ConvolutionShape& shape);

/// An operand of activations: in the engine's layout, or copied between that and what the primitive
/// wants, which is another layout or a matrix of windows.
class OnednnOperand {
public:
    OnednnOperand() = default;
    /// result: what the primitive writes, else what it reads.
    OnednnOperand(const dnnl::engine& engine, const dnnl::memory::desc& given,
                  const dnnl::memory::desc& wanted, bool result);
    OnednnOperand(const dnnl::engine& engine, const Windows& windows,
                  const dnnl::memory::desc& wanted, bool result);

    bool reordered() const { return static_cast<bool>(reorder_); }
    std::size_t copy_bytes() const { return copied() ? whole_lines(wanted_bytes_) : 0; }
    /// What the primitive is to be given, before it runs, and what is to be done after.
    /// copy: memory of copy_bytes().
    dnnl_memory_t before(const dnnl::stream& stream, const std::byte* data, std::byte* copy) const;
    void after(const dnnl::stream& stream, const std::byte* data, std::byte* copy) const;

private:
    bool copied() const { return reordered() || windows_; }

    dnnl::memory given_, wanted_;
    dnnl::reorder reorder_;
    std::optional<Windows> windows_;
    std::size_t wanted_bytes_ = 0;
    bool result_ = false;
};

/// What oneDNN calls the operands of a pass.
struct ArgumentNames {
    int first = 0, second = 0, weights = 0;
};

/// For one number of images and of threads.
class OnednnPass {
public:
    /// Nothing where oneDNN cannot. Where it has but its reference kernel for the engine's layout,
    /// and better for another one, activations are reordered.
    static std::optional<OnednnPass> make(const OnednnEngine& engine, ConvolutionPass kind,
                                          const ConvolutionShape& shape,
                                          ConvolutionAlgorithm algorithm);

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
    static std::optional<OnednnPass> convolution(const OnednnEngine& engine, ConvolutionPass kind,
                                                 const ConvolutionShape& shape,
                                                 ConvolutionAlgorithm algorithm, bool any_layout);
    static std::optional<OnednnPass> product(const OnednnEngine& engine, ConvolutionPass kind,
                                             const ConvolutionShape& shape);
    /// Family: oneDNN's three primitives. operand_x, operand_y(wanted, result): of x or its
    /// gradient, of y or its gradient.
    template <class Family, class Problem, class OperandX, class OperandY>
    static std::optional<OnednnPass> assemble(const OnednnEngine& engine, ConvolutionPass kind,
                                              const Problem& problem, OperandX operand_x,
                                              OperandY operand_y);
    bool is_reference() const { return implementation_.starts_with("ref"); }

    dnnl::stream stream_;
    dnnl::primitive primitive_;
    OnednnWeights weights_;
    ArgumentNames names_;
    OnednnOperand first_, second_;
    dnnl::memory packed_, scratch_;
    std::string implementation_;
};

}  // namespace wasp
