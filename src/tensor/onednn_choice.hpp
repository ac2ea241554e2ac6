/// Private to tensor: the algorithm of a pass, by measurement.
#pragma once

#include "onednn_pass.hpp"

namespace wasp {

/// What the caller wants, if there is that for the pass, else `direct`; never `measured`: a pass is
/// measured once in a process.
ConvolutionAlgorithm choose_algorithm(const OnednnEngine& engine, ConvolutionPass kind,
                                      const ConvolutionShape& shape, ConvolutionAlgorithm wanted);

}  // namespace wasp
