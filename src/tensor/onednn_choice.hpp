/// Private to tensor: direct or Winograd, by measurement.
#pragma once

#include "onednn_convolution.hpp"

namespace wasp {

/// Is Winograd's algorithm what `algorithm` asks for and the shape allows? A shape is measured once
/// in a process.
bool prefers_winograd(const OnednnEngine& engine, ConvolutionPass kind,
                      const ConvolutionShape& shape, ConvolutionAlgorithm algorithm);

}  // namespace wasp
