/// Compression of a worker's updates, with error feedback:
///     e += u;   q = Q(e);   e −= q;   q is pushed
/// Q rounds to fp16 or bf16, or keeps of each 4,096 weights the largest and sets the others to 0.
/// Source: Stich, Cordonnier, Jaggi, NeurIPS 2018, algorithm 1 (Mem-SGD); with the worker's
/// momentum in u it is the momentum correction of Lin et al. (DGC), ICLR 2018, without clipping and
/// masking.
#pragma once

#include <cstddef>
#include <span>

#include "base/aligned.hpp"
#include "base/state.hpp"
#include "protocols/compression.hpp"

namespace wasp {

class Compressor {
public:
    Compressor(const Compression& compression, std::size_t weights)
        : compression_(compression), residual_(weights), pushed_(weights) {}

    /// q of the part of an update that begins at `offset`, a whole number of blocks; each part once
    /// an update. Valid until the next call.
    std::span<const float> compress(std::size_t offset, std::span<const float> update);

    void visit(State& state) { state.values("residual", std::span<float>(residual_)); }

private:
    Compression compression_;
    AlignedFloats residual_, pushed_;  // e, q: (n)
};

}  // namespace wasp
