#include "picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace wasp {

namespace {

constexpr std::size_t pictures = 6, beside = 3, widest = 24;

/// Grey levels of one image, row by row; a character is about twice as high as wide.
struct Grey {
    std::size_t columns = 0, rows = 0;
    std::vector<double> values;
};

double pixel(const Dataset& dataset, const std::byte* image, std::size_t index) {
    if (dataset.pixel_type == PixelType::uint8) return std::to_integer<int>(image[index]) / 255.0;
    float value = 0;
    std::memcpy(&value, image + index * sizeof value, sizeof value);
    return static_cast<double>(value);
}

/// The mean over all channels and the pixels that a character covers.
Grey shrink(const Dataset& dataset, const std::byte* image) {
    const auto channels = static_cast<std::size_t>(dataset.shape.channels);
    const auto height = static_cast<std::size_t>(dataset.shape.height);
    const auto width = static_cast<std::size_t>(dataset.shape.width);
    Grey grey;
    grey.columns = std::min(width, widest);
    grey.rows = std::max<std::size_t>(1, grey.columns * height / width / 2);
    for (std::size_t r = 0; r < grey.rows; ++r)
        for (std::size_t k = 0; k < grey.columns; ++k) {
            const std::size_t top = r * height / grey.rows;
            const std::size_t bottom = std::max(top + 1, (r + 1) * height / grey.rows);
            const std::size_t left = k * width / grey.columns;
            const std::size_t right = std::max(left + 1, (k + 1) * width / grey.columns);
            double sum = 0;
            for (std::size_t c = 0; c < channels; ++c)
                for (std::size_t y = top; y < bottom; ++y)
                    for (std::size_t x = left; x < right; ++x)
                        sum += pixel(dataset, image, (c * height + y) * width + x);
            const auto covered = channels * (bottom - top) * (right - left);
            grey.values.push_back(sum / static_cast<double>(covered));
        }
    return grey;
}

std::string line_of(const Grey& grey, std::size_t row, double low, double high) {
    constexpr std::array shades{" ", "░", "▒", "▓", "█"};
    std::string line;
    for (std::size_t k = 0; k < grey.columns; ++k) {
        const double level =
            (grey.values[row * grey.columns + k] - low) / std::max(high - low, 1e-9);
        const auto shade = static_cast<std::size_t>(std::clamp(level, 0.0, 0.999) * shades.size());
        line += shades[shade];
    }
    return line;
}

}  // namespace

std::string picture_of(const Dataset& dataset, const Split& split) {
    std::vector<Grey> greys;
    std::vector<int> classes;
    for (int label = 0; label < dataset.classes && greys.size() < pictures; ++label) {
        const auto at = std::ranges::find(split.labels, label);
        if (at == split.labels.end()) continue;
        greys.push_back(
            shrink(dataset, split.image(static_cast<std::size_t>(at - split.labels.begin()))));
        classes.push_back(label);
    }
    double low = 0;  // bytes: of the whole range; floats: of what is there
    double high = 1;
    if (dataset.pixel_type == PixelType::float32 && !greys.empty()) {
        low = high = greys[0].values[0];
        for (const auto& grey : greys)
            for (const double value : grey.values) {
                low = std::min(low, value);
                high = std::max(high, value);
            }
    }
    std::string text;
    for (std::size_t first = 0; first < greys.size(); first += beside) {
        const std::size_t last = std::min(first + beside, greys.size());
        const auto add_line = [&](auto part) {
            for (std::size_t i = first; i < last; ++i) text += (i > first ? "  " : "") + part(i);
            text += '\n';
        };
        for (std::size_t row = 0; row < greys[first].rows; ++row)
            add_line([&](std::size_t i) { return line_of(greys[i], row, low, high); });
        add_line([&](std::size_t i) {
            return fmt::format("{:<{}}", fmt::format("class {}", classes[i]), greys[i].columns);
        });
    }
    return text;
}

}  // namespace wasp
