#include "base/random.hpp"

#include <cmath>
#include <numbers>

namespace wasp {

namespace {

constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15U;

std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view purpose, std::int64_t rank,
                           std::int64_t epoch)
    : state_(mix(seed + golden_gamma)) {
    const auto absorb = [this](std::uint64_t value) {
        state_ = mix(state_ ^ mix(value + golden_gamma));
    };
    for (const char letter : purpose) absorb(static_cast<unsigned char>(letter));
    absorb(static_cast<std::uint64_t>(rank));
    absorb(static_cast<std::uint64_t>(epoch));
}

RandomStream::result_type RandomStream::operator()() {
    state_ += golden_gamma;
    return mix(state_);
}

double RandomStream::uniform() {
    return static_cast<double>((*this)() >> 11U) * 0x1.0p-53;
}

double RandomStream::uniform(double low, double high) {
    return low + (high - low) * uniform();
}

double RandomStream::normal() {  // Box and Muller; the second value is thrown away
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::uint64_t RandomStream::below(std::uint64_t limit) {
    const std::uint64_t biased = (0 - limit) % limit;  // 2^64 mod limit
    std::uint64_t value = (*this)();
    while (value < biased) value = (*this)();
    return value % limit;
}

}  // namespace wasp
