#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "tensor/kernels.hpp"

namespace wasp {

// The tables that the Makefile built, each in the namespace of its instruction set.
namespace avx {
extern const Kernels table;
}
namespace avx2 {
extern const Kernels table;
}
namespace avx512 {
extern const Kernels table;
}

namespace {

struct Built {
    const Kernels* table;
    bool usable;
};

/// Best last.
auto built() {
    return std::to_array<Built>({
#ifdef HAVE_SIMD_avx
        {&avx::table, static_cast<bool>(__builtin_cpu_supports("avx"))},
#endif
#ifdef HAVE_SIMD_avx2
        {&avx2::table, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")},
#endif
#ifdef HAVE_SIMD_avx512
        {&avx512::table, __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                             __builtin_cpu_supports("avx512bw") &&
                             __builtin_cpu_supports("avx512vl")},
#endif
    });
}

}  // namespace

std::vector<std::string_view> kernel_names() {
    std::vector<std::string_view> names;
    for (const auto& [table, usable] : built())
        if (usable) names.emplace_back(table->name);
    return names;
}

const Kernels& kernels(std::string_view name) {
    const auto names = kernel_names();
    REQUIRE(!names.empty(),
            "this CPU has none of the instruction sets that wasp was built for (it needs AVX at "
            "least): run it on another machine");
    if (name.empty()) name = names.back();
    for (const auto& [table, usable] : built())
        if (usable && table->name == name) return *table;
    throw Error(ExitCode::usage, fmt::format("no kernels for '{}' on this machine; it has: {}",
                                             name, fmt::join(names, ", ")));
}

}  // namespace wasp
