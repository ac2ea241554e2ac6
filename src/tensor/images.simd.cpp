// Pixels into lanes, normalised on the way.
#include <immintrin.h>

#include "lanes.hpp"
#include "shuffles.hpp"
#include "table.hpp"

namespace wasp::SIMD {

namespace {

constexpr int segment = 16;  // pixels of an image that are moved at a time

using Bytes = unsigned char __attribute__((vector_size(segment), may_alias, aligned(1)));

/// In intrinsics, as g++ 12 converts vectors of bytes one by one; and in a masked one, as it warns
/// of the other's inside.
inline Vector to_floats(const unsigned char* bytes) {
#ifdef __AVX512F__
    const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
    return _mm512_maskz_cvtepi32_ps(0xFFFF, _mm512_maskz_cvtepu8_epi32(0xFFFF, all));
#else
    const __m128i low = _mm_cvtepu8_epi32(_mm_loadu_si32(bytes));
    const __m128i high = _mm_cvtepu8_epi32(_mm_loadu_si32(bytes + 4));
    return _mm256_cvtepi32_ps(_mm256_set_m128i(high, low));
#endif
}

/// `segment` pixels of every image, pixel by pixel.
inline void gather(const std::byte* const* images, std::ptrdiff_t offset, Vector (&out)[segment],
                   unsigned char /*type*/) {
    Bytes row[lanes];
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) row[i] = *reinterpret_cast<const Bytes*>(images[i] + offset);
    transpose<lanes, segment>(row);
#pragma GCC unroll 16
    for (int i = 0; i < segment; ++i)
        out[i] = to_floats(reinterpret_cast<const unsigned char*>(row) + i * lanes);
}

inline void gather(const std::byte* const* images, std::ptrdiff_t offset, Vector (&out)[segment],
                   float /*type*/) {
#pragma GCC unroll 2
    for (int part = 0; part < segment; part += lanes) {
        Vector square[lanes];
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i)
            square[i] = *reinterpret_cast<const UnalignedVector*>(
                images[i] + (offset + part) * static_cast<std::ptrdiff_t>(sizeof(float)));
        transpose<lanes, lanes>(square);
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) out[part + i] = square[i];
    }
}

template <class Pixel>
inline Vector gather_one(const std::byte* const* images, std::ptrdiff_t offset) {
    Vector out;
    for (int i = 0; i < lanes; ++i)
        out[i] = static_cast<float>(reinterpret_cast<const Pixel*>(images[i])[offset]);
    return out;
}

template <class Pixel>
void load(const std::byte* const* images, const float* scale, const float* shift, const Planes& y) {
    std::ptrdiff_t offset = 0;
    for (int c = 0; c < y.channels; ++c)
        for (int row = 0; row < y.height; ++row, offset += y.width) {
            Vector* line = vectors(y.data + c * y.plane + row * y.row);
            const float a = scale[c], b = shift[c];
            if (y.width < segment)
                for (int i = 0; i < y.width; ++i)
                    line[i] = a * gather_one<Pixel>(images, offset + i) + b;
            else
                for (int i = 0; i < y.width; i += segment) {
                    const int first = smaller(i, y.width - segment);  // the last one may overlap
                    Vector pixels[segment];
                    gather(images, offset + first, pixels, Pixel{});
#pragma GCC unroll 16
                    for (int k = 0; k < segment; ++k) line[first + k] = a * pixels[k] + b;
                }
        }
}

}  // namespace

void load_uint8(const std::byte* const* images, const float* scale, const float* shift,
                const Planes& y) {
    load<unsigned char>(images, scale, shift, y);
}

void load_float32(const std::byte* const* images, const float* scale, const float* shift,
                  const Planes& y) {
    load<float>(images, scale, shift, y);
}

}  // namespace wasp::SIMD
