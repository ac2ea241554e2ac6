#include "image_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.hpp"

namespace wasp {

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
        case Scale::wrapped:  // are bytes by now
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
            "hdf5' and --scale 255, 1 or none{}",
            where, whole ? "whole numbers" : "values", low, high,
            whole && low < 0 && low >= -128 && high <= 127 ? " (or wrapped: bytes as int8)" : "");
    return coded(1);
}

ImageReader::ImageReader(h5::Array array, Rows rows, const AxisHints& axes,
                         const PixelHints& pixels)
    : array_(std::move(array)), element_(array_.element()) {
    REQUIRE(array_.size() > 0, "{}: is empty, its shape is ({})", where(),
            fmt::join(array_.shape(), ","));
    axes_ = decide_axes(where(), array_.shape(), axes);
    if (pixels.wrapped) {
        REQUIRE(element_.kind == h5::Element::Kind::whole && element_.bytes == 1,
                "{}: holds {}; only int8 can be --scale wrapped", where(), element_.name());
        element_.is_signed = false;
    }
    if (axes_.letters.front() == 'n') {
        count_ = count_rows(array_, rows);
        first_ = rows.first;
        rows_ = rows.list ? array_.rows() : count_;
    } else {
        REQUIRE(rows.all(),
                "{}: its first axis does not count the images, but only some of its "
                "rows are meant to be used",
                where());
        count_ = axes_.images;
        rows_ = array_.rows();
    }
    REQUIRE(count_ > 0, "{}: no images", where());
    if (rows.list) {
        for (std::size_t i = 0; i < count_; ++i) listed_.emplace_back((*rows.list)[i], i);
        std::ranges::sort(listed_);
    }
    bgr_ = pixels.bgr;
    plan_copies();
}

/// From one index of that dimension to the next, in memory.
std::ptrdiff_t ImageReader::step_of(char letter) const {
    const auto width = static_cast<std::ptrdiff_t>(axes_.shape.width);
    const auto plane = width * axes_.shape.height;
    switch (letter) {
        case 'n':
            return plane * axes_.shape.channels;
        case 'c':
            return bgr_ ? -plane : plane;
        case 'h':
            return width;
        default:
            return 1;
    }
}

void ImageReader::plan_copies() {
    REQUIRE(!bgr_ || axes_.shape.channels == 3, "{}: {} channels can't be blue, green and red",
            where(), axes_.shape.channels);
    if (bgr_) origin_ = 2 * std::abs(step_of('c'));
    const auto& letters = axes_.letters;
    std::ptrdiff_t from = 1;
    for (std::size_t i = letters.size(); i-- > 0;) {
        const Run run{axes_.side(letters[i]), from, step_of(letters[i])};
        if (i < axes_.outer) {
            of_row_.insert(of_row_.begin(), run);
            continue;
        }
        if (run.side == 1) continue;
        from *= static_cast<std::ptrdiff_t>(run.side);
        const auto next = static_cast<std::ptrdiff_t>(in_row_.empty() ? 0 : in_row_.front().side);
        if (!in_row_.empty() && run.to == in_row_.front().to * next)
            in_row_.front().side *= run.side;  // one dimension as well
        else
            in_row_.insert(in_row_.begin(), run);
    }
    if (in_row_.empty()) in_row_.push_back({1, 1, 1});
    std::ranges::stable_sort(in_row_, {}, &Run::side);
}

bool ImageReader::is_as_in_memory() const {
    return axes_.letters.front() == 'n' && listed_.empty() && in_row_.size() == 1 &&
           in_row_.front().to == 1;
}

bool ImageReader::is_plain_byte() const {
    return element_.kind == h5::Element::Kind::whole && element_.bytes == 1 && !element_.is_signed;
}

std::string ImageReader::name_of(std::size_t row, std::size_t value) const {
    std::vector<std::size_t> index;
    for (std::size_t i = array_.shape().size(); i-- > 1;) {
        index.push_back(value % array_.shape()[i]);
        value /= array_.shape()[i];
    }
    index.push_back(row);
    std::ranges::reverse(index);
    return fmt::format("{}[{}]", where(), fmt::join(index, ","));
}

ValueRange ImageReader::survey(ReadingProgress& progress) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    ValueRange range{infinity, -infinity, true, element_.kind == h5::Element::Kind::truth};
    if (is_plain_byte()) {
        array_.read_in_parts(first_, rows_, [&](auto, auto, std::span<const std::byte> part) {
            unsigned char low = 255;
            unsigned char high = 0;
            for (const std::byte value : part) {
                low = std::min(low, std::to_integer<unsigned char>(value));
                high = std::max(high, std::to_integer<unsigned char>(value));
            }
            range = range.with({static_cast<double>(low), static_cast<double>(high)});
            progress.add(part.size());
        });
        return range;
    }
    std::vector<double> values;
    const std::size_t per_row = array_.size() / array_.rows();
    array_.read_in_parts(first_, rows_, [&](std::size_t row, std::size_t rows, auto part) {
        values.resize(rows * per_row);
        h5::to_doubles(element_, part, values);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double value = values[i];
            REQUIRE(std::isfinite(value), "{} is {}; images must be finite numbers",
                    name_of(row + i / per_row, i % per_row), value);
            range.low = std::min(range.low, value);
            range.high = std::max(range.high, value);
            range.whole = range.whole && std::trunc(value) == value;
        }
        progress.add(part.size());
    });
    return range;
}

template <class Pixel>
void ImageReader::copy(const Pixel* from, Pixel* to, std::span<const Run> runs) {
    const Run run = runs.front();
    if (runs.size() > 1) {
        for (std::size_t k = 0; k < run.side; ++k, from += run.from, to += run.to)
            copy(from, to, runs.subspan(1));
    } else if (run.from == 1 && run.to == 1) {
        std::copy_n(from, run.side, to);
    } else {
        for (std::size_t k = 0; k < run.side; ++k, from += run.from, to += run.to) *to = *from;
    }
}

/// Where an index of the array's first dimension begins in memory, in pixels.
std::ptrdiff_t ImageReader::place_of_row(std::size_t row) const {
    std::ptrdiff_t place = 0;
    for (std::size_t i = of_row_.size(); i-- > 1; row /= of_row_[i].side)
        place += static_cast<std::ptrdiff_t>(row % of_row_[i].side) * of_row_[i].to;
    return place + static_cast<std::ptrdiff_t>(row) * of_row_[0].to;
}

/// pixels: of rows from `first` on, in the order of the array.
template <class Pixel>
void ImageReader::place_rows(std::size_t first, std::span<const Pixel> pixels, Pixel* out) const {
    const std::size_t per_row = array_.size() / array_.rows();
    const Pixel* from = pixels.data();
    for (std::size_t row = first; from < pixels.data() + pixels.size(); ++row, from += per_row) {
        if (listed_.empty()) {
            copy<Pixel>(from, out + origin_ + place_of_row(row - first_), in_row_);
            continue;
        }
        auto at = std::ranges::lower_bound(listed_, std::pair(row, std::size_t{0}));
        for (; at != listed_.end() && at->first == row; ++at)
            copy<Pixel>(from, out + origin_ + place_of_row(at->second), in_row_);
    }
}

void ImageReader::read_as_it_is(std::span<std::byte> out, ReadingProgress& progress) const {
    const std::size_t row_bytes = array_.row_bytes();
    const std::size_t step = std::max<std::size_t>(1, array_.rows_at_once());
    for (std::size_t done = 0; done < rows_;) {
        const std::size_t row = first_ + done;
        const std::size_t rows = std::min(step - row % step, rows_ - done);
        array_.read(row, rows, out.subspan(done * row_bytes, rows * row_bytes));
        progress.add(rows * row_bytes);
        done += rows;
    }
}

void ImageReader::read(const PixelCoding& coding, std::span<std::byte> out,
                       ReadingProgress& progress) const {
    const bool as_stored =
        is_plain_byte() && coding.type == PixelType::uint8 && coding.factor == PixelCoding::of_255;
    if (as_stored && is_as_in_memory()) return read_as_it_is(out, progress);

    std::vector<double> values;
    std::vector<std::uint8_t> bytes;
    std::vector<float> floats;
    auto* const out_bytes = reinterpret_cast<std::uint8_t*>(out.data());
    auto* const out_floats = reinterpret_cast<float*>(out.data());
    array_.read_in_parts(first_, rows_, [&](std::size_t row, auto, auto part) {
        progress.add(part.size());
        if (as_stored) {
            const auto* stored = reinterpret_cast<const std::uint8_t*>(part.data());
            return place_rows<std::uint8_t>(row, {stored, part.size()}, out_bytes);
        }
        values.resize(part.size() / element_.bytes);
        h5::to_doubles(element_, part, values);
        if (coding.type == PixelType::uint8) {
            bytes.resize(values.size());
            std::ranges::transform(values, bytes.begin(), [&](double value) {
                return static_cast<std::uint8_t>(std::lround(value * coding.factor * 255));
            });
            return place_rows<std::uint8_t>(row, bytes, out_bytes);
        }
        floats.resize(values.size());
        std::ranges::transform(values, floats.begin(), [&](double value) {
            return static_cast<float>(value * coding.factor);
        });
        place_rows<float>(row, floats, out_floats);
    });
}

}  // namespace wasp
