// Before anything else: whether this processor has the instructions that the compiler was told to
// use everywhere (ARCH_FLAGS of make/MACHINE.mk). Where it lacks some, the program ends here with a
// sentence, and not somewhere with SIGILL. So all of this file is for any x86-64, whatever the
// flags say, and calls no inline function, of which the linker might take another file's copy.
#ifdef __AVX512FP16__
#define NEEDS_AVX512FP16
#endif
#ifdef __AVX512BW__
#define NEEDS_AVX512
#endif
#ifdef __AVX2__
#define NEEDS_AVX2
#endif
#ifdef __AVX__
#define NEEDS_AVX
#endif
#ifdef __SSE4_2__
#define NEEDS_SSE4_2
#endif
#ifndef __clang__  // of which only clang-tidy reads this
#pragma GCC target("arch=x86-64")
#endif

#include <cpuid.h>
#include <unistd.h>

#include <cstdio>

namespace {

/// The newest instructions that this processor lacks and this build needs; null: none.
const char* missing_instructions() {
    __builtin_cpu_init();
#ifdef NEEDS_AVX512FP16
    if (!__builtin_cpu_supports("avx512fp16")) return "AVX-512 with FP16";
#endif
#ifdef NEEDS_AVX512
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return "AVX-512";
#endif
#ifdef NEEDS_AVX2
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi2"))
        return "AVX2 with FMA";
#endif
#ifdef NEEDS_AVX
    if (!__builtin_cpu_supports("avx")) return "AVX";
#endif
#ifdef NEEDS_SSE4_2
    if (!__builtin_cpu_supports("sse4.2")) return "SSE4.2";
#endif
    return nullptr;
}

// Priority 101, the first that is free: before all that other files construct.
[[gnu::constructor(101)]] void check_processor() {
    const char* missing = missing_instructions();
    if (missing == nullptr) return;
    unsigned name[13] = {};  // 48 characters, and a zero
    for (unsigned i = 0; i < 3; ++i) {
        unsigned* part = name + 4 * i;
        __cpuid(0x80000002U + i, part[0], part[1], part[2], part[3]);
    }
    constexpr int usage = 2;  // as ExitCode::usage
    dprintf(STDERR_FILENO,
            "wasp: error: this build needs %s, which this processor (%s) lacks: use make "
            "MACHINE=generic, or that of the processor (make/)\n",
            missing, reinterpret_cast<const char*>(name));
    _exit(usage);
}

}  // namespace
