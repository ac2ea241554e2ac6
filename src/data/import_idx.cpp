#include <algorithm>
#include <array>
#include <string>

#include "base/error.hpp"
#include "data/import.hpp"
#include "idx.hpp"
#include "own_file.hpp"

namespace wasp {

namespace {

std::filesystem::path find_file(const std::filesystem::path& folder, const std::string& prefix,
                                const std::string& kind) {
    for (const char* joint : {"-", "."})
        for (const char* ending : {"", ".gz"}) {
            auto path = folder / fmt::format("{}{}{}{}", prefix, joint, kind, ending);
            if (std::filesystem::is_regular_file(path)) return path;
        }
    throw Error(ExitCode::usage, fmt::format("{}: holds no {}-{}, nor {}-{}.gz", folder.string(),
                                             prefix, kind, prefix, kind));
}

HeldSplit read_split(const std::filesystem::path& images_path,
                     const std::filesystem::path& labels_path, ImageShape& shape) {
    auto images = read_idx_images(images_path);
    auto labels = read_idx_labels(labels_path);
    REQUIRE(images.sides[0] == labels.size(), "{}: {} images, but {} labels in {}",
            images_path.string(), images.sides[0], labels.size(), labels_path.string());
    shape = {1, static_cast<int>(images.sides[1]), static_cast<int>(images.sides[2])};
    return {std::move(images.values), std::move(labels)};
}

}  // namespace

IdxFiles idx_files_in(const std::filesystem::path& folder) {
    REQUIRE(std::filesystem::is_directory(folder), "{}: is not a folder", folder.string());
    return {find_file(folder, "train-images", "idx3-ubyte"),
            find_file(folder, "train-labels", "idx1-ubyte"),
            find_file(folder, "t10k-images", "idx3-ubyte"),
            find_file(folder, "t10k-labels", "idx1-ubyte")};
}

std::string import_idx(const IdxFiles& files, const std::filesystem::path& out) {
    check_target(out);
    ImageShape shape;
    ImageShape test_shape;
    const auto train = read_split(files.train_images, files.train_labels, shape);
    const auto test = read_split(files.test_images, files.test_labels, test_shape);
    REQUIRE(shape == test_shape, "{}: images of {} x {}, but of {} x {} in {}",
            files.test_images.string(), test_shape.height, test_shape.width, shape.height,
            shape.width, files.train_images.string());
    const int classes = 1 + *std::ranges::max_element(train.labels);
    const auto beyond =
        std::ranges::find_if(test.labels, [&](int label) { return label >= classes; });
    REQUIRE(beyond == test.labels.end(), "{}[{}]: label {}, but the training labels end at {}",
            files.test_labels.string(), beyond - test.labels.begin(), *beyond, classes - 1);
    return write_own_file(out, shape, classes, train, test);
}

}  // namespace wasp
