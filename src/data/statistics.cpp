#include "statistics.hpp"

#include <array>
#include <cmath>
#include <cstring>

namespace wasp {

namespace {

struct Moments {
    double mean = 0, deviation = 0;
};

/// Exact: by way of counts of the 256 values.
Moments moments_of_bytes(const Split& split, std::size_t offset, std::size_t plane) {
    std::array<std::uint64_t, 256> counts{};
    for (std::size_t i = 0; i < split.size(); ++i) {
        const std::byte* pixels = split.image(i) + offset;
        for (std::size_t k = 0; k < plane; ++k) ++counts[std::to_integer<unsigned>(pixels[k])];
    }
    std::uint64_t sum = 0;
    std::uint64_t squares = 0;
    for (std::uint64_t value = 0; value < counts.size(); ++value) {
        sum += value * counts[value];
        squares += value * value * counts[value];
    }
    const auto count = static_cast<double>(split.size() * plane);
    const double mean = static_cast<double>(sum) / count;
    const double variance = static_cast<double>(squares) / count - mean * mean;
    return {mean / 255, std::sqrt(std::max(variance, 0.0)) / 255};
}

template <class Use>
void for_each_float(const Split& split, std::size_t offset, std::size_t plane, Use use) {
    for (std::size_t i = 0; i < split.size(); ++i) {
        const std::byte* pixels = split.image(i) + offset * sizeof(float);
        for (std::size_t k = 0; k < plane; ++k) {
            float value = 0;
            std::memcpy(&value, pixels + k * sizeof value, sizeof value);
            use(static_cast<double>(value));
        }
    }
}

/// In two passes, which keeps what is left of a small deviation beside a large mean.
Moments moments_of_floats(const Split& split, std::size_t offset, std::size_t plane) {
    const auto count = static_cast<double>(split.size() * plane);
    double sum = 0;
    for_each_float(split, offset, plane, [&](double value) { sum += value; });
    const double mean = sum / count;
    double squares = 0;
    for_each_float(split, offset, plane,
                   [&](double value) { squares += (value - mean) * (value - mean); });
    return {mean, std::sqrt(squares / count)};
}

}  // namespace

ChannelStatistics channel_statistics(const Split& split, ImageShape shape, PixelType type) {
    ChannelStatistics statistics;
    const auto channels = static_cast<std::size_t>(shape.channels);
    const std::size_t plane = shape.pixels() / channels;
    for (std::size_t c = 0; c < channels; ++c) {
        const auto [mean, deviation] = type == PixelType::uint8
                                           ? moments_of_bytes(split, c * plane, plane)
                                           : moments_of_floats(split, c * plane, plane);
        statistics.mean.push_back(static_cast<float>(mean));
        statistics.deviation.push_back(static_cast<float>(deviation));
    }
    return statistics;
}

void set_normalisation(Dataset& dataset, const ChannelStatistics& statistics) {
    dataset.mean = statistics.mean;
    dataset.deviation = statistics.deviation;
    dataset.scale.clear();
    dataset.shift.clear();
    const float largest = dataset.pixel_type == PixelType::uint8 ? 255.0F : 1.0F;
    for (std::size_t c = 0; c < dataset.mean.size(); ++c) {
        auto& deviation = dataset.deviation[c];
        if (!(deviation > 0)) deviation = 1;
        dataset.scale.push_back(1 / (largest * deviation));
        dataset.shift.push_back(-dataset.mean[c] / deviation);
    }
}

}  // namespace wasp
