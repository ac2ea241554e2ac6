// What travels between nodes in fewer bytes comes out with the same bits.
#include "../../src/cluster/packing.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tensor/halves.hpp"

namespace wasp {
namespace {

std::vector<std::uint32_t> bits_of(const std::vector<float>& floats) {
    std::vector<std::uint32_t> bits;
    for (const float x : floats) bits.push_back(std::bit_cast<std::uint32_t>(x));
    return bits;
}

/// Returns how it was packed.
Packed there_and_back(const std::vector<float>& floats) {
    std::vector<std::uint32_t> words(floats.size(), 0xDEADBEEF);
    const Packed packed = pack(floats, words);
    EXPECT_LE(packed.words, floats.size());
    words.resize(packed.words);
    std::vector<float> again(floats.size(), -1.0F);
    unpack(packed.packing, words, again);
    EXPECT_EQ(bits_of(again), bits_of(floats));
    return packed;
}

std::vector<float> noise(std::size_t count, float size) {
    std::mt19937 stream(static_cast<unsigned>(count));
    std::normal_distribution<float> draw(0, size);
    std::vector<float> floats(count);
    for (float& x : floats) x = draw(stream);
    return floats;
}

const std::vector<std::size_t> lengths = {0, 1, 2, 3, 7, 1023, 1024, 1025, 4096, 65'535, 65'536};

TEST(Packing, OrdinaryFloatsTravelAsTheyAre) {
    for (const std::size_t length : lengths) {
        if (length < 3) continue;  // there is nothing to save
        const auto packed = there_and_back(noise(length, 1e-3F));
        EXPECT_EQ(packed.packing, Packing::none) << length;
        EXPECT_EQ(packed.words, length);
    }
}

TEST(Packing, HalvesTakeHalfTheBytes) {
    for (const std::size_t length : lengths) {
        if (length < 3) continue;
        auto floats = noise(length, 1e-3F);
        for (float& x : floats) x = round_to_bf16(x);
        auto packed = there_and_back(floats);
        EXPECT_EQ(packed.packing, Packing::bf16) << length;
        EXPECT_EQ(packed.words, (length + 1) / 2);
        floats = noise(length, 1e-4F);  // normal ones and smaller ones
        for (float& x : floats) x = round_to_fp16(x);
        packed = there_and_back(floats);
        EXPECT_EQ(packed.packing, Packing::fp16) << length;
        EXPECT_EQ(packed.words, (length + 1) / 2);
    }
}

TEST(Packing, ZerosAreLeftOutWhereTheyAreMany) {
    for (const std::size_t length : lengths) {
        auto floats = noise(length, 1);
        std::size_t others = 0;
        for (std::size_t i = 0; i < length; ++i) {
            if (i % 10 == 9)
                ++others;
            else
                floats[i] = 0;
        }
        const auto packed = there_and_back(floats);
        EXPECT_EQ(packed.packing, Packing::sparse) << length;
        EXPECT_EQ(packed.words, others + (others + 1) / 2);
    }
}

TEST(Packing, NothingOddIsLost) {
    using Limits = std::numeric_limits<float>;
    const std::vector<float> odd{-0.0F,     Limits::infinity(), -Limits::infinity(),
                                 0x1p-149F, Limits::max(),      Limits::quiet_NaN()};
    there_and_back(odd);
    for (const float x : odd) {
        there_and_back({x});
        there_and_back({x, x, 1.0F, x, 1.0F / 3});
        std::vector<float> among_zeros(100);
        among_zeros[50] = x;
        EXPECT_EQ(there_and_back(among_zeros).packing, Packing::sparse);
    }
}

/// The nearest of all numbers that fp16 has, the even one of two; slow.
float nearest_fp16(double x) {
    double nearest = 0;
    bool is_even = true;
    for (std::uint32_t half = 0; half < 0x7C00U; ++half) {
        const int exponent = static_cast<int>(half >> 10U);
        const double fraction = half & 0x3FFU;
        const double value =
            exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
        const double closer = std::abs(std::abs(x) - nearest) - std::abs(std::abs(x) - value);
        const bool even = half % 2 == 0;
        if (closer > 0 || (closer == 0 && even && !is_even)) {
            nearest = value;
            is_even = even;
        }
    }
    return static_cast<float>(std::copysign(nearest, x));
}

TEST(Halves, AreTheNearest) {
    std::vector<float> floats{0.0F,         -0.0F,      1.0F,       65504.0F,       65519.0F,
                              65520.0F,     1e6F,       0x1p-14F,   0x1.ffcp-15F,   0x1.ffep-15F,
                              0x1.ffap-15F, 0x1p-24F,   0x1p-25F,   0x1.8p-25F,     0x1.8p-24F,
                              1.0F / 3,     0x1.002p0F, 0x1.006p0F, 0x1.0020002p0F, -0x1.ffep0F};
    for (const float size : {1e-7F, 1e-5F, 1e-2F, 1e4F})
        for (const float x : noise(10, size)) floats.push_back(x);
    for (const float x : floats) {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(round_to_fp16(x)),
                  std::bit_cast<std::uint32_t>(nearest_fp16(static_cast<double>(x))))
            << x;
        EXPECT_EQ(from_fp16(fp16_bits(round_to_fp16(x))), round_to_fp16(x)) << x;
    }
    EXPECT_EQ(round_to_bf16(1.0F), 1.0F);
    EXPECT_EQ(round_to_bf16(0x1.01p0F), 1.0F);  // half way: to the even one
    EXPECT_EQ(round_to_bf16(0x1.03p0F), 0x1.04p0F);
    EXPECT_EQ(round_to_bf16(-0x1.010002p0F), -0x1.02p0F);
    for (const float nan : {std::numeric_limits<float>::quiet_NaN(),
                            std::bit_cast<float>(std::uint32_t{0x7FFFFFFF})}) {
        EXPECT_TRUE(std::isnan(round_to_bf16(nan)));
        EXPECT_TRUE(std::isnan(round_to_fp16(nan)));
    }
}

}  // namespace
}  // namespace wasp
