#include "axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/error.hpp"
#include "data/import.hpp"

namespace wasp {

namespace {

using Sides = std::vector<std::size_t>;

constexpr std::size_t largest_side = 8192;
constexpr std::size_t most_channels = 16;
constexpr auto say =
    "convert the file with 'wasp data import hdf5' and --axes nchw, nhwc or the like";

bool is_channel_count(std::size_t n) {
    return n == 1 || n == 3;
}

ImageShape make_shape(std::size_t channels, std::size_t height, std::size_t width,
                      const std::string& where) {
    REQUIRE(std::max({channels, height, width}) <= largest_side && channels <= most_channels,
            "{}: images of {} x {} x {} values are too large", where, channels, height, width);
    return {static_cast<int>(channels), static_cast<int>(height), static_cast<int>(width)};
}

std::size_t whole_root(std::size_t n) {
    const auto root = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(n))));
    return root * root == n ? root : 0;
}

/// 784 → (1,28,28), 3072 → (3,32,32).
ImageShape unflatten(std::size_t pixels, const std::string& where) {
    if (const auto side = whole_root(pixels)) return make_shape(1, side, side, where);
    const auto side = pixels % 3 == 0 ? whole_root(pixels / 3) : 0;
    REQUIRE(side > 0, "{}: rows of {} values are not square images of 1 or 3 channels", where,
            pixels);
    return make_shape(3, side, side, where);
}

std::string shape_text(const std::string& where, const Sides& sides) {
    return fmt::format("{}: shape ({})", where, fmt::join(sides, ","));
}

/// Whether the last axis counts the images, and not the first.
bool images_last(const std::string& where, const Sides& sides, const AxisHints& hints) {
    if (hints.images_first && !hints.reversed) return false;
    const bool last = sides.front() != hints.labels && sides.back() == hints.labels;
    const std::size_t images = last ? sides.back() : sides.front();
    REQUIRE(std::ranges::count(sides, images) == 1,
            "{} does not tell which axis counts the images; {}", shape_text(where, sides), say);
    return last;
}

std::string letters_by_shape(const std::string& where, const Sides& sides, const AxisHints& hints) {
    const bool last = images_last(where, sides, hints);
    const std::size_t channels_first = last ? 0 : 1;
    const std::size_t channels_last = sides.size() - (last ? 2 : 1);
    std::string image = "chw";
    if (sides.size() == 2)
        REQUIRE(!hints.reversed,
                "{} does not tell in which order the pixels of an image stand; "
                "convert the file with 'wasp data import hdf5' and --axes {} or {}",
                shape_text(where, sides), last ? "hwn" : "nhw", last ? "whn" : "nwh");
    if (sides.size() == 3) image = "hw";
    if (sides.size() == 4) {
        const bool first = is_channel_count(sides[channels_first]);
        REQUIRE(first != is_channel_count(sides[channels_last]),
                "{} does not tell which axis is that of the channels; {}", shape_text(where, sides),
                say);
        image = first ? "chw" : "hwc";
    }
    if (hints.reversed) std::swap(image[image.find('h')], image[image.find('w')]);
    return last ? image + 'n' : 'n' + image;
}

/// (N,pixels) or (pixels,N).
AxisOrder of_flattened(const std::string& where, const Sides& sides, const AxisHints& hints,
                       std::string letters) {
    REQUIRE(letters.starts_with('n') || letters.ends_with('n'),
            "{}: --axes {}: n must be the first or the last of two dimensions",
            shape_text(where, sides), letters);
    const bool last = letters.ends_with('n');
    const std::size_t pixels = last ? sides.front() : sides.back();
    const auto shape = hints.image ? *hints.image : unflatten(pixels, where);
    REQUIRE(shape.pixels() == pixels, "{}: rows of {} values, but images of ({},{},{})", where,
            pixels, shape.channels, shape.height, shape.width);
    REQUIRE(shape.channels == 1 || letters.find('c') != std::string::npos,
            "{}: {} channels, but --axes {} has no c", where, shape.channels, letters);
    const std::size_t outer = last ? letters.size() - 1 : 1;
    return {std::move(letters), outer, last ? sides.back() : sides.front(), shape};
}

}  // namespace

void check_axes(std::string_view axes) {
    const auto count = [axes](char letter) { return std::ranges::count(axes, letter); };
    const bool known = std::ranges::all_of(axes, [](char letter) {
        return std::string_view("nchw").find(letter) != std::string_view::npos;
    });
    REQUIRE(known && count('n') == 1 && count('h') == 1 && count('w') == 1 && count('c') <= 1,
            "'{}' is no order of axes: n (images), h and w once each, c (channels) at most once, "
            "as nchw, nhwc, nhw or hwcn",
            axes);
}

std::size_t AxisOrder::side(char letter) const {
    if (letter == 'n') return images;
    return static_cast<std::size_t>(letter == 'c'   ? shape.channels
                                    : letter == 'h' ? shape.height
                                                    : shape.width);
}

AxisOrder decide_axes(const std::string& where, const Sides& sides, const AxisHints& hints) {
    REQUIRE(sides.size() >= 2 && sides.size() <= 4,
            "{}: expected images as (N,C,H,W), (N,H,W,C), (N,H,W) or (N,pixels)",
            shape_text(where, sides));
    auto letters = hints.axes;
    if (letters.empty())
        letters = letters_by_shape(where, sides, hints);
    else
        check_axes(letters);
    if (sides.size() == 2) return of_flattened(where, sides, hints, letters);

    if (sides.size() == 3) std::erase(letters, 'c');  // one channel
    REQUIRE(letters.size() == sides.size(), "{} has {} dimensions, --axes {} {}",
            shape_text(where, sides), sides.size(), letters, letters.size());
    const auto side = [&](char letter) {
        const std::size_t place = letters.find(letter);
        return place == std::string::npos ? 1 : sides[place];
    };
    const auto shape = make_shape(side('c'), side('h'), side('w'), where);
    const std::size_t images = side('n');
    return {std::move(letters), 1, images, shape};
}

}  // namespace wasp
