#include <png.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/error.hpp"
#include "picture.hpp"

namespace wasp {

namespace {

constexpr std::size_t most_rows = 20, columns = 10, gap = 2;  // images; pixels between them
constexpr std::size_t wanted_side = 56;

/// The places of the first images of each class that has some.
std::vector<std::vector<std::size_t>> choose_images(const Dataset& dataset, const Split& split) {
    std::vector<std::vector<std::size_t>> chosen(
        std::min(static_cast<std::size_t>(dataset.classes), most_rows));
    for (std::size_t i = 0; i < split.size(); ++i) {
        const std::size_t label = split.labels[i];
        if (label < chosen.size() && chosen[label].size() < columns) chosen[label].push_back(i);
    }
    std::erase_if(chosen, [](const auto& row) { return row.empty(); });
    return chosen;
}

/// 0 … 1: bytes of their range, floats within some deviations of their mean.
double brightness(const Dataset& dataset, const std::byte* image, std::size_t channel,
                  std::size_t index) {
    if (dataset.pixel_type == PixelType::uint8) return std::to_integer<int>(image[index]) / 255.0;
    constexpr float half_range = 2.5F;
    float value = 0;
    std::memcpy(&value, image + index * sizeof value, sizeof value);
    const float normal = value * dataset.scale[channel] + dataset.shift[channel];
    return std::clamp(static_cast<double>(normal / half_range + 1) / 2, 0.0, 1.0);
}

/// Red, green, blue of one pixel.
void put_pixel(const Dataset& dataset, const std::byte* image, std::size_t pixel,
               std::uint8_t* out) {
    const auto channels = static_cast<std::size_t>(dataset.shape.channels);
    const std::size_t plane = dataset.shape.pixels() / channels;
    double mean = 0;
    for (std::size_t c = 0; c < channels; ++c) {
        const double level = brightness(dataset, image, c, c * plane + pixel);
        mean += level / static_cast<double>(channels);
        if (channels == 3) out[c] = static_cast<std::uint8_t>(255 * level);
    }
    if (channels != 3) std::fill_n(out, 3, static_cast<std::uint8_t>(255 * mean));
}

}  // namespace

std::vector<std::byte> png_of(const Dataset& dataset, const Split& split) {
    const auto chosen = choose_images(dataset, split);
    const auto high = static_cast<std::size_t>(dataset.shape.height);
    const auto wide = static_cast<std::size_t>(dataset.shape.width);
    const std::size_t zoom = std::max<std::size_t>(1, wanted_side / std::max(high, wide));
    const std::size_t cell_high = high * zoom + gap;
    const std::size_t cell_wide = wide * zoom + gap;
    const std::size_t width = columns * cell_wide + gap;
    const std::size_t height = chosen.size() * cell_high + gap;
    std::vector<std::uint8_t> pixels(width * height * 3, 96);
    for (std::size_t row = 0; row < chosen.size(); ++row)
        for (std::size_t column = 0; column < chosen[row].size(); ++column)
            for (std::size_t y = 0; y < high * zoom; ++y)
                for (std::size_t x = 0; x < wide * zoom; ++x) {
                    const std::size_t place =
                        (row * cell_high + gap + y) * width + column * cell_wide + gap + x;
                    put_pixel(dataset, split.image(chosen[row][column]), y / zoom * wide + x / zoom,
                              &pixels[3 * place]);
                }

    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(width);
    image.height = static_cast<png_uint_32>(height);
    image.format = PNG_FORMAT_RGB;
    png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
    std::vector<std::byte> file(bytes);
    ENSURE(
        png_image_write_to_memory(&image, file.data(), &bytes, 0, pixels.data(), 0, nullptr) != 0,
        "libpng: {}", std::string_view(image.message));
    file.resize(bytes);
    return file;
}

}  // namespace wasp
