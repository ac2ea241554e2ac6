/// Private to src/data/: the layouts of HDF5 files that hold labelled images. A layout says where
/// images and labels are; what their numbers mean is the business of axes, image_reader and
/// label_reader. Those that are only names are rows of layout_names.cpp, the others one file each
/// (layout_NAME.cpp) and one row in layouts.cpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "h5/reader.hpp"
#include "tensor/image_batch.hpp"

namespace wasp {

/// Rows [first, first + count) of a dataset; all rows from `first` on where count is empty; or
/// those of a list, in its order.
struct Rows {
    std::string dataset;
    std::size_t first = 0;
    std::optional<std::size_t> count{};
    std::optional<std::vector<std::size_t>> list{};

    bool all() const { return first == 0 && !count && !list; }
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
    std::filesystem::path labels_file{};  ///< where not in the file of the images
    std::string axes{};                   ///< as check_axes(); empty: by shape
    std::optional<ImageShape> image{};    ///< of flattened ones
    std::optional<int> classes{};         ///< where the layout says so
    bool ours = false;         ///< pixels are uint8 of 0…255, or floats as they go into the model
    bool images_first = true;  ///< the first axis is known to count the images
    bool reversed = false;     ///< written by MATLAB: all axes are in the opposite order
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
std::optional<Plan> recognise_neon(const h5::File& file);
std::optional<Plan> recognise_pcam(const h5::File& file);
std::optional<Plan> recognise_names(const h5::File& file);

/// Error: the file is of a kind that is often mistaken for data, or holds them in a way that is
/// not read; names it, and what to do.
void refuse_other_kinds(const h5::File& file);

}  // namespace wasp
