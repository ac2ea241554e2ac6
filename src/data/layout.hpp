/// Private to src/data/: the layouts of HDF5 files that hold labelled images. One file a layout
/// (layout_NAME.cpp) and one row in layouts.cpp: a layout says where images and labels are; what
/// their numbers mean is the business of image_reader and label_reader.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "data/import.hpp"
#include "h5/reader.hpp"

namespace wasp {

/// Rows [first, first + count) of a dataset; all rows from `first` on where count is empty.
struct Rows {
    std::string dataset;
    std::size_t first = 0;
    std::optional<std::size_t> count{};
};

/// How many rows that are; 0 of an empty array.   Error: there are fewer.
std::size_t count_rows(const h5::Array& array, const Rows& rows);

struct SplitPlan {
    Rows images, labels;
};

struct Plan {
    std::string layout;  ///< for people
    SplitPlan train;
    std::optional<SplitPlan> test{};
    Axes axes = Axes::by_shape;
    std::optional<int> classes{};  ///< where the layout says so
    bool ours = false;         ///< pixels are uint8 of 0…255, or floats as they go into the model
    bool images_first = true;  ///< the first axis is known to count the images
};

struct Layout {
    std::string_view name;
    /// Empty: the file is of another layout.   Error: it is of this one, but faulty.
    std::optional<Plan> (*recognise)(const h5::File&);
};

/// Error: of no known layout; says what the file seems to be, and what it holds.
Plan recognise_layout(const h5::File& file);

std::optional<Plan> recognise_own(const h5::File& file);
std::optional<Plan> recognise_keras(const h5::File& file);
std::optional<Plan> recognise_fuel(const h5::File& file);
std::optional<Plan> recognise_groups(const h5::File& file);
std::optional<Plan> recognise_one_split(const h5::File& file);

}  // namespace wasp
