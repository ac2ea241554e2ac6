/// Private to src/data/: images of one split in a foreign array: which axis is which, what the
/// numbers mean, and their way into memory as (N,C,H,W).
#pragma once

#include <cstddef>
#include <span>

#include "data/import.hpp"
#include "h5/reader.hpp"
#include "layout.hpp"

namespace wasp {

/// Of all values of one or more splits.
struct ValueRange {
    double low = 0, high = 0;
    bool whole = true;   ///< all are whole numbers
    bool truth = false;  ///< stored as truth values

    ValueRange with(const ValueRange& other) const;
};

/// Of a stored value v a model sees v · factor; as uint8, v · factor · 255 is kept.
struct PixelCoding {
    static constexpr double of_255 = 1.0 / 255;
    PixelType type = PixelType::uint8;
    double factor = of_255;
};

/// where: to start a message with.   Error: the values do not tell their scale; names --scale.
PixelCoding decide_coding(const ValueRange& range, Scale scale, const std::string& where);

class ImageReader {
public:
    /// Error: rows that are not there, or axes that the shape does not tell; names --axes.
    ImageReader(h5::Array array, const Rows& rows, Axes axes, bool images_first);

    std::size_t count() const { return count_; }
    ImageShape shape() const { return shape_; }
    const h5::Array& array() const { return array_; }

    /// Reads everything.   Error: a value that is not finite, with its index.
    ValueRange survey() const;

    /// out: count() images of type coding.type.
    void read(const PixelCoding& coding, std::span<std::byte> out) const;

private:
    void decide_shape(Axes axes, bool images_first);
    std::string place(std::size_t row, std::size_t value) const;

    h5::Array array_;
    std::size_t first_ = 0, count_ = 0;
    ImageShape shape_;
    bool channels_last_ = false;
};

}  // namespace wasp
