/// Private to src/data/: images of one split in a foreign array: what the numbers mean, and their
/// way into memory as (N,C,H,W).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "axes.hpp"
#include "data/import.hpp"
#include "h5/reader.hpp"
#include "layout.hpp"
#include "reading_progress.hpp"

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

struct PixelHints {
    bool bgr = false;      ///< the channels are in the opposite order
    bool wrapped = false;  ///< int8 stands for uint8
};

class ImageReader {
public:
    /// Error: rows that are not there, or axes that the shape does not tell; names --axes.
    ImageReader(h5::Array array, Rows rows, const AxisHints& axes, const PixelHints& pixels);

    std::size_t count() const { return count_; }
    ImageShape shape() const { return axes_.shape; }
    const std::string& where() const { return array_.where(); }
    const h5::Element& element() const { return element_; }

    /// What survey() and read() add to a progress each.
    std::size_t stored_bytes() const { return rows_ * array_.row_bytes(); }

    /// Reads everything.   Error: a value that is not finite, with its index.
    ValueRange survey(ReadingProgress& progress) const;

    /// out: count() images of type coding.type.
    void read(const PixelCoding& coding, std::span<std::byte> out, ReadingProgress& progress) const;

private:
    /// `side` numbers, `from` apart in the array and `to` apart in memory.
    struct Run {
        std::size_t side;
        std::ptrdiff_t from, to;
    };
    template <class Pixel>
    static void copy(const Pixel* from, Pixel* to, std::span<const Run> runs);
    template <class Pixel>
    void place_rows(std::size_t first, std::span<const Pixel> pixels, Pixel* out) const;

    void read_as_it_is(std::span<std::byte> out, ReadingProgress& progress) const;
    void plan_copies();
    std::ptrdiff_t step_of(char letter) const;
    bool is_as_in_memory() const;
    bool is_plain_byte() const;
    std::ptrdiff_t place_of_row(std::size_t row) const;
    std::string name_of(std::size_t row, std::size_t value) const;

    h5::Array array_;
    h5::Element element_;  ///< as it is to be understood
    AxisOrder axes_;
    std::size_t first_ = 0, rows_ = 0;  ///< of the array, that are read
    std::size_t count_ = 0;             ///< images
    /// (row of the array, image), sorted; empty: one after the other.
    std::vector<std::pair<std::size_t, std::size_t>> listed_;
    std::vector<Run> of_row_;  ///< the dimensions that an index of the array's first one stands for
    std::vector<Run> in_row_;  ///< the others, the longest last
    std::ptrdiff_t origin_ = 0;  ///< of the first channel of the array in an image in memory
    bool bgr_ = false;
};

}  // namespace wasp
