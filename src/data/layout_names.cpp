// Layouts that are nothing but names of datasets; the first row whose images and labels are there
// has the file.
#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "layout.hpp"

namespace wasp {

namespace {

struct Names {
    const char* layout;
    const char *images, *labels;
    const char *test_images = nullptr, *test_labels = nullptr;  ///< null: one split a file
    bool images_first = true;
};

constexpr std::array table{
    Names{"groups train and test", "/train/images", "/train/labels", "/test/images",
          "/test/labels"},
    Names{"groups train and test", "/train/data", "/train/target", "/test/data", "/test/target"},
    Names{"groups train and test", "/train/data", "/train/labels", "/test/data", "/test/labels"},
    Names{"groups train and test", "/train/data", "/train/label", "/test/data", "/test/label"},
    Names{"groups train and test", "/train/x", "/train/y", "/test/x", "/test/y"},
    Names{"train_images and so on", "/train_images", "/train_labels", "/test_images",
          "/test_labels"},
    Names{"train_data and so on", "/train_data", "/train_labels", "/test_data", "/test_labels"},
    Names{"train_x and so on", "/train_x", "/train_y", "/test_x", "/test_y"},
    // The course's datasets/train_catvnoncat.h5 and test_catvnoncat.h5.
    Names{"DeepLearning.ai", "/train_set_x", "/train_set_y", "/test_set_x", "/test_set_y"},
    Names{"DeepLearning.ai, one split", "/test_set_x", "/test_set_y"},
    Names{"images and labels, one split", "/images", "/labels", nullptr, nullptr, false},
    // BVLC/caffe src/caffe/layers/hdf5_data_layer.cpp; NVIDIA/DIGITS digits/tools/create_db.py
    Names{"Caffe, one split", "/data", "/label"},
    Names{"data and labels, one split", "/data", "/labels", nullptr, nullptr, false},
    // vlimant/mpi_learn models/get_mnist.py
    Names{"mpi_learn, one split", "/features", "/labels"},
    Names{"features and targets, one split", "/features", "/targets"},
    // PyTables' arrays are plain datasets with attributes of its own.
    Names{"group Data, one split", "/Data/features", "/Data/targets"},
    Names{"group Data, one split", "/Data/images", "/Data/labels"},
    Names{"x and y, one split", "/x", "/y", nullptr, nullptr, false},
    Names{"X and y, one split", "/X", "/y", nullptr, nullptr, false},
};

bool all_there(const h5::File& file, const Names& names) {
    return file.has(names.images) && file.has(names.labels);
}

}  // namespace

std::optional<Plan> recognise_names(const h5::File& file) {
    const auto* const found =
        std::ranges::find_if(table, [&](const Names& names) { return all_there(file, names); });
    if (found == table.end()) {
        for (const auto& names : table)
            REQUIRE(!file.has(names.images),
                    "{}: holds '{}', but no '{}'; say which dataset holds "
                    "the labels with 'wasp data import hdf5' and --images, --labels",
                    file.path().string(), names.images + 1, names.labels + 1);
        return std::nullopt;
    }
    Plan plan{.layout = found->layout,
              .train = {{found->images}, {found->labels}},
              .images_first = found->images_first};
    const bool two = found->test_images != nullptr;
    if (two && (file.has(found->test_images) || file.has(found->test_labels)))
        plan.test = SplitPlan{{found->test_images}, {found->test_labels}};
    else if (two)
        plan.layout += ", one split";
    return plan;
}

}  // namespace wasp
