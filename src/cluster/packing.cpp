#include "packing.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.hpp"
#include "tensor/halves.hpp"

namespace wasp {

namespace {

constexpr std::size_t most_floats = std::size_t{1} << 16U;
constexpr std::size_t stretch = 1024;  // floats that are looked at before the next ones are

std::uint32_t bits_of(float x) {
    return std::bit_cast<std::uint32_t>(x);
}

/// Σ count(stretch) over all of them, or over the first so many that it exceeds `most`.
template <class Count>
std::size_t sum_up_to(std::size_t most, std::span<const float> floats, Count count) {
    std::size_t sum = 0;
    for (std::size_t at = 0; at < floats.size() && sum <= most; at += stretch)
        sum += count(floats.subspan(at, std::min(stretch, floats.size() - at)));
    return sum;
}

template <class Property>
bool have_all(std::span<const float> floats, Property has) {
    return sum_up_to(0, floats, [&](std::span<const float> some) {
               std::uint32_t without = 0;
               for (const float x : some) without += has(x) ? 0U : 1U;
               return without;
           }) == 0;
}

bool is_bf16(float x) {
    return (bits_of(x) & 0xFFFFU) == 0;
}

bool is_fp16(float x) {
    return bits_of(from_fp16(fp16_bits(x))) == bits_of(x);
}

std::uint16_t bf16_bits(float x) {
    return static_cast<std::uint16_t>(bits_of(x) >> 16U);
}

float from_bf16(std::uint16_t half) {
    return std::bit_cast<float>(std::uint32_t{half} << 16U);
}

// Two 16-bit numbers a word; the last one may be alone.
std::size_t half_of(std::size_t count) {
    return (count + 1) / 2;
}

template <class Convert>
void write_halves(std::span<const float> floats, std::span<std::uint32_t> words, Convert convert) {
    const auto half = [&](std::size_t i) -> std::uint32_t { return convert(floats[i]); };
    const std::size_t pairs = floats.size() / 2;
    for (std::size_t i = 0; i < pairs; ++i) words[i] = half(2 * i) | half(2 * i + 1) << 16U;
    if (floats.size() % 2 != 0) words[pairs] = half(2 * pairs);
}

std::uint16_t half_at(std::span<const std::uint32_t> words, std::size_t i) {
    return static_cast<std::uint16_t>(words[i / 2] >> (i % 2 * 16));
}

// First where they are, then what.
std::size_t write_sparse(std::span<const float> floats, std::size_t count,
                         std::span<std::uint32_t> words) {
    const std::size_t values = half_of(count);
    std::fill_n(words.begin(), values, 0U);
    std::size_t next = 0;
    for (std::size_t i = 0; i < floats.size(); ++i) {
        if (bits_of(floats[i]) == 0) continue;
        words[next / 2] |= static_cast<std::uint32_t>(i) << (next % 2 * 16);
        words[values + next++] = bits_of(floats[i]);
    }
    return values + count;
}

void read_sparse(std::span<const std::uint32_t> words, std::span<float> floats) {
    std::ranges::fill(floats, 0.0F);
    const std::size_t count = words.size() * 2 / 3;  // of count + half_of(count) words
    for (std::size_t i = 0; i < count; ++i)
        floats[half_at(words, i)] = std::bit_cast<float>(words[words.size() - count + i]);
}

}  // namespace

Packed pack(std::span<const float> floats, std::span<std::uint32_t> words) {
    ASSERT(floats.size() <= most_floats && words.size() == floats.size(), "{} floats in {} words",
           floats.size(), words.size());
    const std::size_t halves = half_of(floats.size());
    const auto nonzero = [](std::span<const float> some) {
        std::uint32_t count = 0;
        for (const float x : some) count += bits_of(x) != 0 ? 1U : 0U;
        return count;
    };
    const std::size_t few = floats.size() / 3;  // they and their places take half of the words
    const std::size_t others = sum_up_to(few, floats, nonzero);
    if (others <= few) return {Packing::sparse, write_sparse(floats, others, words)};
    if (have_all(floats, is_bf16)) {
        write_halves(floats, words, bf16_bits);
        return {Packing::bf16, halves};
    }
    if (have_all(floats, is_fp16)) {
        write_halves(floats, words, fp16_bits);
        return {Packing::fp16, halves};
    }
    std::memcpy(words.data(), floats.data(), floats.size_bytes());
    return {Packing::none, floats.size()};
}

void unpack(Packing packing, std::span<const std::uint32_t> words, std::span<float> floats) {
    switch (packing) {
        case Packing::none:
            std::memcpy(floats.data(), words.data(), floats.size_bytes());
            break;
        case Packing::bf16:
            for (std::size_t i = 0; i < floats.size(); ++i)
                floats[i] = from_bf16(half_at(words, i));
            break;
        case Packing::fp16:
            for (std::size_t i = 0; i < floats.size(); ++i)
                floats[i] = from_fp16(half_at(words, i));
            break;
        case Packing::sparse:
            read_sparse(words, floats);
            break;
    }
}

}  // namespace wasp
