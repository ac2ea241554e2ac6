/// Memory that starts on a cache line, so that vector loads never straddle one.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace wasp {

inline constexpr std::size_t cache_line = 64;  ///< bytes

/// `bytes`, rounded up to the end of a cache line.
constexpr std::size_t whole_lines(std::size_t bytes) {
    return (bytes + cache_line - 1) / cache_line * cache_line;
}

template <class T>
struct CacheAligned {
    using value_type = T;
    CacheAligned() = default;
    template <class U>
    CacheAligned(const CacheAligned<U>& /*other*/) noexcept {}
    T* allocate(std::size_t count) {
        return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{cache_line}));
    }
    void deallocate(T* memory, std::size_t /*count*/) noexcept {
        ::operator delete (memory, std::align_val_t{cache_line});
    }
    template <class U>
    bool operator==(const CacheAligned<U>& /*other*/) const noexcept {
        return true;
    }
};

using AlignedFloats = std::vector<float, CacheAligned<float>>;

}  // namespace wasp
