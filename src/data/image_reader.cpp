#include "image_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.hpp"

namespace wasp {

namespace {

constexpr std::size_t largest_side = 8192;

bool is_channel_count(std::size_t n) {
    return n == 1 || n == 3;
}

ImageShape make_shape(std::size_t channels, std::size_t height, std::size_t width,
                      const std::string& where) {
    REQUIRE(std::max({channels, height, width}) <= largest_side && channels <= 16,
            "{}: images of {} x {} x {} values are too large", where, channels, height, width);
    return {static_cast<int>(channels), static_cast<int>(height), static_cast<int>(width)};
}

std::size_t whole_root(std::size_t n) {
    const auto root = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(n))));
    return root * root == n ? root : 0;
}

/// 784 → (1,28,28), 3072 → (3,32,32), one plane a channel.
ImageShape unflatten(std::size_t pixels, const std::string& where) {
    if (const auto side = whole_root(pixels)) return make_shape(1, side, side, where);
    const auto side = pixels % 3 == 0 ? whole_root(pixels / 3) : 0;
    REQUIRE(side > 0, "{}: rows of {} values are not square images of 1 or 3 channels", where,
            pixels);
    return make_shape(3, side, side, where);
}

/// Planes one after the other ← channels side by side.
template <class Pixel>
void to_planes(const Pixel* from, Pixel* to, std::size_t channels, std::size_t plane) {
    for (std::size_t c = 0; c < channels; ++c)
        for (std::size_t k = 0; k < plane; ++k) to[c * plane + k] = from[k * channels + c];
}

bool is_plain_byte(const h5::Element& element) {
    return element.kind == h5::Element::Kind::whole && element.bytes == 1 && !element.is_signed;
}

}  // namespace

ValueRange ValueRange::with(const ValueRange& other) const {
    return {std::min(low, other.low), std::max(high, other.high), whole && other.whole,
            truth && other.truth};
}

PixelCoding decide_coding(const ValueRange& range, Scale scale, const std::string& where) {
    const double low = range.low;
    const double high = range.high;
    const bool whole = range.whole;
    const auto coded = [whole](double factor) {
        return PixelCoding{whole ? PixelType::uint8 : PixelType::float32, factor};
    };
    const double largest = scale == Scale::max_255 ? 255 : 1;
    switch (scale) {
        case Scale::none:
            REQUIRE(std::max(-low, high) <= std::numeric_limits<float>::max(),
                    "{}: values from {} to {} are too large", where, low, high);
            return {PixelType::float32, 1};
        case Scale::max_255:
        case Scale::max_1:
            REQUIRE(low >= 0 && high <= largest, "{}: values from {} to {} do not fit --scale {}",
                    where, low, high, largest);
            return coded(scale == Scale::max_255 ? PixelCoding::of_255 : 1);
        case Scale::by_values:
            break;
    }
    if (range.truth && high <= 1) return coded(1);
    const bool of_bytes = low >= 0 && high <= 255 && whole && high != 1;
    if (of_bytes) return coded(PixelCoding::of_255);
    // Darker ones than this could as well be part of a larger range.
    const bool of_one = low >= 0 && high <= 1 && high > 0.5 && !whole;
    REQUIRE(of_one,
            "{}: {} from {} to {} do not tell their scale; convert the file with 'wasp data import "
            "hdf5' and --scale 255, 1 or none",
            where, whole ? "whole numbers" : "values", low, high);
    return coded(1);
}

ImageReader::ImageReader(h5::Array array, const Rows& rows, Axes axes, bool images_first)
    : array_(std::move(array)), first_(rows.first), count_(count_rows(array_, rows)) {
    REQUIRE(array_.size() > 0, "{}: is empty, its shape is ({})", array_.where(),
            fmt::join(array_.shape(), ","));
    REQUIRE(count_ > 0, "{}: no images", array_.where());
    decide_shape(axes, images_first);
}

void ImageReader::decide_shape(Axes axes, bool images_first) {
    const auto& where = array_.where();
    const auto& sides = array_.shape();
    const auto shape_text = fmt::format("{}: shape ({})", where, fmt::join(sides, ","));
    constexpr auto say = "convert the file with 'wasp data import hdf5' and --axes nchw or nhwc";
    REQUIRE(sides.size() >= 2 && sides.size() <= 4,
            "{}: expected images as (N,C,H,W), (N,H,W,C), (N,H,W) or (N,pixels)", shape_text);
    if (axes == Axes::by_shape && !images_first)
        REQUIRE(std::find(sides.begin() + 1, sides.end(), sides[0]) == sides.end(),
                "{} does not tell which axis counts the images; {}", shape_text, say);

    if (sides.size() == 2) {
        shape_ = unflatten(sides[1], where);
    } else if (sides.size() == 3) {
        shape_ = make_shape(1, sides[1], sides[2], where);
    } else {
        if (axes == Axes::by_shape) {
            const bool first = is_channel_count(sides[1]);
            const bool last = is_channel_count(sides[3]);
            REQUIRE(first != last, "{} does not tell which axis is that of the channels; {}",
                    shape_text, say);
            axes = first ? Axes::nchw : Axes::nhwc;
        }
        shape_ = axes == Axes::nhwc ? make_shape(sides[3], sides[1], sides[2], where)
                                    : make_shape(sides[1], sides[2], sides[3], where);
    }
    channels_last_ = axes == Axes::nhwc && shape_.channels > 1;
}

std::string ImageReader::place(std::size_t row, std::size_t value) const {
    std::vector<std::size_t> index;
    for (std::size_t i = array_.shape().size(); i-- > 1;) {
        index.push_back(value % array_.shape()[i]);
        value /= array_.shape()[i];
    }
    index.push_back(row);
    std::ranges::reverse(index);
    return fmt::format("{}[{}]", array_.where(), fmt::join(index, ","));
}

ValueRange ImageReader::survey() const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    ValueRange range{infinity, -infinity, true, array_.element().kind == h5::Element::Kind::truth};
    if (is_plain_byte(array_.element())) {
        array_.read_in_parts(first_, count_, [&](auto, auto, std::span<const std::byte> part) {
            unsigned char low = 255;
            unsigned char high = 0;
            for (const std::byte value : part) {
                low = std::min(low, std::to_integer<unsigned char>(value));
                high = std::max(high, std::to_integer<unsigned char>(value));
            }
            range = range.with({static_cast<double>(low), static_cast<double>(high)});
        });
        return range;
    }
    std::vector<double> values;
    const std::size_t per_row = shape_.pixels();
    array_.read_in_parts(first_, count_, [&](std::size_t row, std::size_t rows, auto part) {
        values.resize(rows * per_row);
        h5::to_doubles(array_.element(), part, values);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double value = values[i];
            REQUIRE(std::isfinite(value), "{} is {}; images must be finite numbers",
                    place(row + i / per_row, i % per_row), value);
            range.low = std::min(range.low, value);
            range.high = std::max(range.high, value);
            range.whole = range.whole && std::trunc(value) == value;
        }
    });
    return range;
}

void ImageReader::read(const PixelCoding& coding, std::span<std::byte> out) const {
    const std::size_t per_image = shape_.pixels();
    const auto channels = static_cast<std::size_t>(shape_.channels);
    const std::size_t plane = per_image / channels;
    std::byte* to = out.data();
    // Pixels in the order of the file, of the type in memory.
    const auto place_images = [&](const auto& pixels) {
        using Pixel = typename std::decay_t<decltype(pixels)>::value_type;
        for (std::size_t i = 0; i < pixels.size();
             i += per_image, to += per_image * sizeof(Pixel)) {
            if (channels_last_)
                to_planes(pixels.data() + i, reinterpret_cast<Pixel*>(to), channels, plane);
            else
                std::memcpy(to, pixels.data() + i, per_image * sizeof(Pixel));
        }
    };
    const bool as_stored = is_plain_byte(array_.element()) && coding.type == PixelType::uint8 &&
                           coding.factor == PixelCoding::of_255;
    if (as_stored && !channels_last_) return array_.read(first_, count_, out);

    std::vector<double> values;
    std::vector<std::uint8_t> bytes;
    std::vector<float> floats;
    array_.read_in_parts(first_, count_, [&](auto, std::size_t rows, auto part) {
        if (as_stored) {
            bytes.resize(part.size());
            std::memcpy(bytes.data(), part.data(), part.size());
            return place_images(bytes);
        }
        values.resize(rows * per_image);
        h5::to_doubles(array_.element(), part, values);
        if (coding.type == PixelType::uint8) {
            bytes.resize(values.size());
            std::ranges::transform(values, bytes.begin(), [&](double value) {
                return static_cast<std::uint8_t>(std::lround(value * coding.factor * 255));
            });
            return place_images(bytes);
        }
        floats.resize(values.size());
        std::ranges::transform(values, floats.begin(), [&](double value) {
            return static_cast<float>(value * coding.factor);
        });
        place_images(floats);
    });
}

}  // namespace wasp
