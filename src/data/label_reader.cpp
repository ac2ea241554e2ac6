#include "label_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "own_file.hpp"

namespace wasp {

namespace {

constexpr std::size_t largest_label_array = std::size_t{1} << 28U;  // numbers

/// MATLAB's column of labels, as others see it.
bool is_single_row(const h5::Array& array) {
    return array.shape().size() == 2 && array.shape()[0] == 1 && array.shape()[1] > 1;
}

std::vector<double> read_rows(const h5::Array& array, const Rows& rows, std::size_t per_label) {
    const std::size_t count = rows.list ? array.rows() : count_rows(array, rows);
    const std::size_t per_row = array.size() / array.rows();
    REQUIRE(per_row <= largest_label_array / count, "{}: too large for labels", array.where());
    std::vector<double> values(count * per_row);
    std::vector<std::byte> stored(count * array.row_bytes());
    array.read(rows.first, count, stored);
    h5::to_doubles(array.element(), stored, values);
    if (!rows.list) return values;
    std::vector<double> listed;
    for (const std::size_t row : *rows.list)
        listed.insert(listed.end(), values.begin() + static_cast<std::ptrdiff_t>(row * per_label),
                      values.begin() + static_cast<std::ptrdiff_t>((row + 1) * per_label));
    return listed;
}

std::uint16_t one_hot_class(std::span<const double> row, const std::string& where,
                            std::size_t index) {
    const auto one = std::ranges::find(row, 1.0);
    const bool sound = one != row.end() && std::ranges::count(row, 0.0) + 1 == std::ssize(row);
    REQUIRE(sound, "{}[{}]: expected a single 1 among zeros (one-hot labels)", where, index);
    return static_cast<std::uint16_t>(one - row.begin());
}

std::size_t row_of(const Labels& labels, std::vector<std::uint16_t>::const_iterator at) {
    return labels.first + static_cast<std::size_t>(at - labels.values.begin());
}

std::vector<std::size_t> count_each(const Labels& labels, std::size_t classes) {
    std::vector<std::size_t> counts(classes);
    for (const auto label : labels.values) ++counts[label];
    return counts;
}

}  // namespace

std::size_t count_labels(const h5::Array& array, const Rows& rows) {
    if (!is_single_row(array)) return count_rows(array, rows);
    REQUIRE(rows.all(), "{}: a single row, of which only rows are meant to be used", array.where());
    return array.shape()[1];
}

Labels read_labels(const h5::Array& array, const Rows& rows, int base) {
    const auto& where = array.where();
    const auto& sides = array.shape();
    const std::size_t count = count_labels(array, rows);
    REQUIRE(count > 0, "{}: no labels", where);
    const std::size_t width = is_single_row(array) ? 1 : array.size() / array.rows();
    REQUIRE(width == 1 || sides.size() == 2,
            "{}: expected labels as (N), (N,1), (1,N) or one-hot (N,classes), found ({})", where,
            fmt::join(sides, ","));
    REQUIRE(width <= largest_class_count, "{}: {} classes, at most {}", where, width,
            largest_class_count);

    Labels labels{where, {}, rows.first, {}};
    const auto values = read_rows(array, rows, width);
    labels.values.reserve(count);
    if (width > 1) {
        labels.classes = static_cast<int>(width);
        for (std::size_t i = 0; i < count; ++i)
            labels.values.push_back(
                one_hot_class(std::span(values).subspan(i * width, width), where, rows.first + i));
        return labels;
    }
    for (std::size_t i = 0; i < count; ++i) {
        const double value = values[i] - base;  // still a double: nothing wraps around
        REQUIRE(value >= 0 && value < largest_class_count && std::trunc(value) == value,
                "{}[{}]: label {} is not a class: expected whole numbers from {} to {}", where,
                rows.first + i, values[i], base, largest_class_count - 1 + base);
        labels.values.push_back(static_cast<std::uint16_t>(value));
    }
    return labels;
}

void append(Labels& labels, const Labels& more) {
    REQUIRE(labels.classes == more.classes, "{}: labels of another form than in {}", more.where,
            labels.where);
    labels.values.insert(labels.values.end(), more.values.begin(), more.values.end());
}

int count_classes(const Labels& train, const Labels* test) {
    if (train.classes) return *train.classes;
    auto largest = *std::ranges::max_element(train.values);
    if (test != nullptr) largest = std::max(largest, *std::ranges::max_element(test->values));
    const std::size_t classes = std::size_t{largest} + 1;
    const auto counts = count_each(train, classes);
    REQUIRE(counts[0] > 0,
            "{}: labels up to {}, but none is 0; if they start at 1, convert the file with 'wasp "
            "data import hdf5' and --label-base 1",
            train.where, largest);
    // By chance alone a class may be missing among few images, but not among many.
    constexpr std::size_t many = 20;  // images a class
    const auto gaps = static_cast<std::size_t>(std::ranges::count(counts, std::size_t{0}));
    REQUIRE(gaps == 0 || (train.values.size() < many * classes && gaps <= classes / 2),
            "{}: labels up to {}, but none is {}; if so many classes are meant, convert the file "
            "with 'wasp data import hdf5' and --classes {}",
            train.where, largest, std::ranges::find(counts, std::size_t{0}) - counts.begin(),
            classes);
    const bool stray = counts.back() == 1 && classes > 2 &&
                       *std::min_element(counts.begin(), counts.end() - 1) > 1;
    REQUIRE(
        !stray,
        "{}[{}]: the only label {}, a stray one? If {} classes are meant, convert the file with "
        "'wasp data import hdf5' and --classes {}",
        train.where, row_of(train, std::ranges::find(train.values, largest)), largest, classes,
        classes);
    return static_cast<int>(classes);
}

void check_labels(const Labels& labels, int classes) {
    const auto wrong = std::ranges::find_if(
        labels.values, [classes](std::uint16_t label) { return label >= classes; });
    REQUIRE(wrong == labels.values.end(), "{}[{}]: label {} of {} classes", labels.where,
            row_of(labels, wrong), *wrong, classes);
}

}  // namespace wasp
