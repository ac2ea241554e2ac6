#include "data/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.hpp"
#include "cifar.hpp"
#include "dataset_reader.hpp"
#include "h5/atomic_file.hpp"
#include "idx.hpp"
#include "own_file.hpp"
#include "packed_file.hpp"
#include "picture.hpp"
#include "sha256.hpp"

namespace wasp {

namespace {

std::string shape_text(const ImageShape& shape) {
    return fmt::format("({},{},{})", shape.channels, shape.height, shape.width);
}

std::string type_text(PixelType type) {
    return type == PixelType::uint8 ? "uint8" : "float32";
}

std::string counts_per_class(const Dataset& dataset) {
    constexpr int columns = 4;
    const auto count = [](const Split& split, int label) {
        return std::ranges::count(split.labels, label);
    };
    std::string text;
    for (int label = 0; label < dataset.classes; ++label) {
        text += fmt::format(
            "{:>7}: {:<12}", label,
            fmt::format("{} + {}", count(dataset.train, label), count(dataset.test, label)));
        if (label % columns == columns - 1 || label + 1 == dataset.classes) {
            text.erase(text.find_last_not_of(' ') + 1);
            text += '\n';
        }
    }
    return text;
}

/// One dataset of our own layout against its attribute.
void verify(const h5::File& file, const std::string& name) {
    const auto array = file.array(name);
    Sha256 sum;
    array.read_in_parts(0, array.rows(), [&](auto, auto, auto part) { sum.add(part); });
    REQUIRE(
        file.text(name, "sha256") == sum.finish(),
        "{}: damaged: its bytes do not have the sha256 that its attribute says; import it again",
        array.where());
}

std::string check_hdf5(const std::filesystem::path& path) {
    DatasetReader reader(path);
    const auto dataset = read_dataset(reader);
    if (reader.is_ours()) {
        const h5::File file(path);
        for (const char* name : {"/train/images", "/train/labels", "/test/images", "/test/labels"})
            verify(file, name);
    }
    return fmt::format("{}: sound; HDF5, layout '{}', {} + {} images {} {}, {} classes",
                       path.string(), dataset.layout, dataset.train.size(), dataset.test.size(),
                       shape_text(dataset.shape), type_text(dataset.pixel_type), dataset.classes);
}

std::string check_idx(const std::filesystem::path& path) {
    const auto idx = read_idx(path);
    return fmt::format("{}: sound; IDX {} of shape ({})", path.string(),
                       idx.sides.size() == 1 ? "labels" : "images", fmt::join(idx.sides, ","));
}

std::string check_cifar(const std::filesystem::path& path) {
    std::error_code fault;
    const auto bytes = std::filesystem::file_size(path, fault);
    const bool fine = !fault && bytes % cifar10.record() != 0 && bytes % cifar100.record() == 0;
    const auto& format = fine ? cifar100 : cifar10;
    HeldSplit split;
    read_cifar(path, format, split);
    return fmt::format("{}: sound; {} binary, {} images", path.string(), format.name,
                       split.labels.size());
}

}  // namespace

std::string dataset_info(const std::filesystem::path& path,
                         const std::optional<std::filesystem::path>& png) {
    if (png) check_target(*png);
    DatasetReader reader(path);
    const auto dataset = read_dataset(reader);
    if (png)
        REQUIRE(h5::create_file(*png, png_of(dataset, dataset.train)), "{}: exists", png->string());
    std::string text;
    const auto line = [&text](const char* name, const std::string& value) {
        text += fmt::format("{:<9}{}\n", name, value);
    };
    line("file", path.string());
    line("name", dataset.name);
    line("layout", dataset.layout);
    line("images",
         fmt::format("{} training + {} test, {} {}", dataset.train.size(), dataset.test.size(),
                     shape_text(dataset.shape), type_text(dataset.pixel_type)));
    line("mean", fmt::format("{:.4f}", fmt::join(dataset.mean, ", ")));
    line("std", fmt::format("{:.4f}", fmt::join(dataset.deviation, ", ")));
    line("sha256", dataset.sha256 + " (training images)");
    line("classes", fmt::format("{}; training + test images of each:", dataset.classes));
    return text + counts_per_class(dataset) + '\n' + picture_of(dataset, dataset.train);
}

std::string check_data_file(const std::filesystem::path& path) {
    std::array<std::byte, 4> start{};
    PackedFile(path).read(start);
    constexpr std::array hdf5{std::byte{0x89}, std::byte{'H'}, std::byte{'D'}, std::byte{'F'}};
    if (start == hdf5) return check_hdf5(path);
    if (looks_like_idx(start)) return check_idx(path);
    // No signature: CIFAR's binaries have none. By name, for the sake of the message.
    if (path.filename().string().find("idx") != std::string::npos) return check_idx(path);
    if (path.extension() == ".bin") return check_cifar(path);
    return check_hdf5(path);
}

}  // namespace wasp
