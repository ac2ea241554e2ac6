/// How pushed updates are made smaller: --compress. What a push leaves out, by rounding or by
/// choice, is added to the next one of the same worker (error feedback).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wasp {

struct Compression {
    enum class Kind { none, fp16, bf16, topk };
    Kind kind = Kind::none;
    double ratio = 1;  ///< of topk: the part of each 4,096 weights that is pushed

    /// What an update of `count` weights takes to travel between nodes: the part of 4·count bytes.
    double share(std::size_t count) const;
    /// Of `count` neighbouring weights, of one block at most, how many topk pushes.
    std::size_t kept(std::size_t count) const;
};

/// "none" | "fp16" | "bf16" | "topk:RATIO", 0 < RATIO <= 1.   Error: anything else.
Compression parse_compression(std::string_view text);

}  // namespace wasp
