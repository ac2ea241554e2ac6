#include "protocols/compression.hpp"

#include <array>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "base/spec.hpp"
#include "cluster/cluster.hpp"

namespace wasp {

std::size_t Compression::kept(std::size_t count) const {
    return static_cast<std::size_t>(std::ceil(ratio * static_cast<double>(count)));
}

double Compression::share(std::size_t count) const {
    switch (kind) {
        case Kind::none:
            break;
        case Kind::fp16:
        case Kind::bf16:
            return 0.5;
        case Kind::topk: {  // each with its place, in 16 bits
            const auto pushed =
                kept(Window::block) * (count / Window::block) + kept(count % Window::block);
            const double part = static_cast<double>(pushed) / static_cast<double>(count);
            return part <= 1.0 / 3 ? 1.5 * part : 1;  // else they travel with the zeros
        }
    }
    return 1;
}

Compression parse_compression(std::string_view text) {
    using Kind = Compression::Kind;
    static constexpr std::array<std::string_view, 3> halves{"none", "fp16", "bf16"};
    for (const auto kind : {Kind::none, Kind::fp16, Kind::bf16})
        if (text == halves.at(static_cast<std::size_t>(kind))) return {.kind = kind};
    constexpr std::string_view topk = "topk:";
    const auto ratio =
        text.starts_with(topk) ? parse_number(text.substr(topk.size())) : std::nullopt;
    REQUIRE(ratio && *ratio > 0 && *ratio <= 1,
            "'{}' must be none, fp16, bf16 or topk:RATIO, with RATIO above 0 and at most 1", text);
    return {Kind::topk, *ratio};
}

}  // namespace wasp
