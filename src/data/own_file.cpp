#include "own_file.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "h5/atomic_file.hpp"
#include "h5/writer.hpp"
#include "sha256.hpp"
#include "statistics.hpp"

namespace wasp {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20U;
constexpr std::size_t chunk_labels = 65'536;

template <class T>
std::span<const T> span_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

void write_split(h5::Writer& writer, const std::string& group, const Dataset& dataset,
                 const Split& split) {
    const auto& shape = dataset.shape;
    const h5::Shape sides{split.size(), static_cast<std::size_t>(shape.channels),
                          static_cast<std::size_t>(shape.height),
                          static_cast<std::size_t>(shape.width)};
    auto chunk = sides;  // whole images
    chunk[0] = std::clamp<std::size_t>(chunk_bytes / split.image_bytes, 1, split.size());
    const auto images = group + "/images";
    writer.group(group);
    if (dataset.pixel_type == PixelType::uint8)
        writer.dataset(images, span_of<std::uint8_t>(split.images), sides, {.chunk = chunk});
    else
        writer.dataset(images, span_of<float>(split.images), sides, {.chunk = chunk});
    writer.text(images, "sha256", sha256(split.images));

    const auto labels = group + "/labels";
    const h5::Storage storage{.chunk = {std::min(split.size(), chunk_labels)}};
    if (dataset.classes <= 256) {
        const std::vector<std::uint8_t> narrow(split.labels.begin(), split.labels.end());
        writer.dataset(labels, narrow, {split.size()}, storage);
        writer.text(labels, "sha256", sha256(std::as_bytes(std::span(narrow))));
    } else {
        writer.dataset(labels, split.labels, {split.size()}, storage);
        writer.text(labels, "sha256", sha256(std::as_bytes(split.labels)));
    }
}

Split view(const HeldSplit& held, std::size_t image_bytes) {
    return {held.images, held.labels, image_bytes};
}

}  // namespace

void check_target(const std::filesystem::path& out) {
    REQUIRE(!std::filesystem::exists(out), "{}: exists; remove it, or give another --out",
            out.string());
    h5::check_writable(out);
}

void write_own_file(const std::filesystem::path& out, const Dataset& dataset) {
    h5::Writer writer;
    writer.attribute("/", "format_version", own_format_version);
    writer.text("/", "name", dataset.name);
    writer.attribute("/", "classes", std::int64_t{dataset.classes});
    writer.attribute("/", "mean", std::vector<double>(dataset.mean.begin(), dataset.mean.end()));
    writer.attribute("/", "std",
                     std::vector<double>(dataset.deviation.begin(), dataset.deviation.end()));
    write_split(writer, "/train", dataset, dataset.train);
    write_split(writer, "/test", dataset, dataset.test);
    REQUIRE(h5::create_file(out, writer.finish()), "{}: exists; remove it, or give another --out",
            out.string());
}

std::string write_own_file(const std::filesystem::path& out, ImageShape shape, int classes,
                           const HeldSplit& train, const HeldSplit& test) {
    Dataset dataset;
    dataset.name = out.stem().string();
    dataset.classes = classes;
    dataset.shape = shape;
    dataset.train = view(train, shape.pixels());
    dataset.test = view(test, shape.pixels());
    set_normalisation(dataset, channel_statistics(dataset.train, shape, dataset.pixel_type));
    write_own_file(out, dataset);
    return fmt::format("{}: {} + {} images ({},{},{}), {} classes", out.string(),
                       train.labels.size(), test.labels.size(), shape.channels, shape.height,
                       shape.width, classes);
}

}  // namespace wasp
