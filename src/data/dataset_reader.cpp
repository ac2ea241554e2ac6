#include "dataset_reader.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/aligned.hpp"
#include "base/error.hpp"
#include "file_list.hpp"
#include "memory_need.hpp"
#include "own_file.hpp"
#include "sha256.hpp"
#include "statistics.hpp"

namespace wasp {

namespace {

static_assert(std::is_trivially_copyable_v<Facts>);

/// Facts, training images, test images, training labels, test labels.
struct Places {
    explicit Places(const Facts& facts)
        : image_bytes(facts.shape.pixels() *
                      (facts.pixel_type == PixelType::uint8 ? 1 : sizeof(float))) {
        images[0] = whole_lines(sizeof(Facts));
        images[1] = images[0] + whole_lines(facts.train * image_bytes);
        labels[0] = images[1] + whole_lines(facts.test * image_bytes);
        labels[1] = labels[0] + whole_lines(facts.train * sizeof(std::uint16_t));
        end = labels[1] + whole_lines(facts.test * sizeof(std::uint16_t));
    }
    std::size_t image_bytes;
    std::size_t images[2], labels[2], end;
};

void set_text(std::span<char> field, const std::string& text) {
    const std::size_t length = std::min(text.size(), field.size() - 1);
    std::ranges::fill(field, '\0');
    std::copy_n(text.begin(), length, field.begin());
}

std::string text_attribute(const h5::File& file, const std::string& object,
                           const std::string& name) {
    const auto text = file.text(object, name);
    REQUIRE(text, "{}: {}: has no attribute '{}'", file.path().string(), object, name);
    return *text;
}

std::vector<float> list_attribute(const h5::File& file, const std::string& name, std::size_t count,
                                  double low) {
    const auto list = file.numbers("/", name);
    const auto sound = [low](double x) { return std::isfinite(x) && x >= low; };
    REQUIRE(list && list->size() == count && std::ranges::all_of(*list, sound),
            "{}: expected {} sound numbers as attribute '{}'", file.path().string(), count, name);
    return {list->begin(), list->end()};
}

Plan make_plan(const h5::File& file, const Interpretation& interpretation) {
    const auto& images = interpretation.images;
    const auto& labels = interpretation.labels;
    REQUIRE(images.empty() == labels.empty(), "--images and --labels belong together");
    const auto from_root = [](const std::string& name) {
        return name.starts_with('/') ? name : "/" + name;
    };
    Plan plan;
    if (images.empty())
        plan = recognise_layout(file);
    else
        plan = {.layout = "as named",
                .train = {{from_root(images)}, {from_root(labels)}},
                .images_first = false};
    plan.reversed = file.has_attribute(plan.train.images.dataset, "MATLAB_class");
    if (plan.reversed) plan.layout = "MATLAB, " + plan.layout;
    return plan;
}

}  // namespace

DatasetReader::DatasetReader(const std::filesystem::path& path,
                             const Interpretation& interpretation,
                             const std::optional<std::filesystem::path>& test_file)
    : path_(path) {
    open_file(path, interpretation);
    if (test_file) {
        REQUIRE(!has_test(), "{}: holds training and test data; leave out {}", path.string(),
                test_file->string());
        open_file(*test_file, interpretation);
        REQUIRE(splits_.size() == 2, "{}: holds training and test data; give it alone",
                test_file->string());
    }
    check_shapes(interpretation);
    decide_classes(interpretation);
    facts_.shape = splits_.front().first().shape();
    facts_.train = splits_.front().count();
    facts_.test = has_test() ? splits_.back().count() : 0;
    check_memory_need(path.string(), bytes());  // at least, before they are all looked at
    decide_coding_of_all(interpretation.scale);
    set_text(facts_.name,
             ours_ ? text_attribute(h5::File(path), "/", "name") : path.stem().string());
    set_text(facts_.layout, layout_);
    facts_.channels = facts_.shape.channels;
    facts_.pixel_type = coding_.type;
    check_memory_need(path.string(), bytes());
}

DatasetReader::Part DatasetReader::open_part(const h5::File& file, const Plan& plan,
                                             const SplitPlan& split,
                                             const Interpretation& interpretation) {
    const auto images = file.array(split.images.dataset);
    const auto labels = plan.labels_file.empty()
                            ? file.array(split.labels.dataset)
                            : h5::File(plan.labels_file).array(split.labels.dataset);
    const std::size_t count = count_labels(labels, split.labels);
    const AxisHints axes{
        .axes = interpretation.axes.empty() ? plan.axes : interpretation.axes,
        .images_first = plan.images_first,
        .reversed = plan.reversed,
        .labels = count,
        .image = plan.image,
    };
    const PixelHints pixels{.bgr = interpretation.bgr,
                            .wrapped = interpretation.scale == Scale::wrapped};
    ImageReader reader(images, split.images, axes, pixels);
    REQUIRE(count == reader.count(), "{}: {} images, but {} labels in {}", reader.where(),
            reader.count(), count, split.labels.dataset);
    Part part{{}, read_labels(labels, split.labels, interpretation.label_base)};
    part.images.push_back(std::move(reader));
    return part;
}

void DatasetReader::open_file(const std::filesystem::path& path,
                              const Interpretation& interpretation) {
    const auto files = read_file_list(path);
    if (!files.empty()) return open_list(path, files, interpretation);
    const h5::File file(path);
    const Plan plan = make_plan(file, interpretation);
    splits_.push_back(open_part(file, plan, plan.train, interpretation));
    if (plan.test) splits_.push_back(open_part(file, plan, *plan.test, interpretation));
    if (!layout_.empty()) return;
    layout_ = plan.layout;
    classes_ = plan.classes;
    ours_ = plan.ours;
    axes_known_ = plan.ours || plan.image.has_value();
}

void DatasetReader::open_list(const std::filesystem::path& path,
                              const std::vector<std::filesystem::path>& files,
                              const Interpretation& interpretation) {
    std::optional<Part> all;
    for (const auto& name : files) {
        const h5::File file(name);
        const Plan plan = make_plan(file, interpretation);
        REQUIRE(!plan.test, "{}: holds training and test data; give it alone, without {}",
                name.string(), path.string());
        auto part = open_part(file, plan, plan.train, interpretation);
        if (layout_.empty()) {
            layout_ = fmt::format("{}, {} files", plan.layout, files.size());
            classes_ = plan.classes;
        }
        if (!all) {
            all = std::move(part);
            continue;
        }
        append(all->labels, part.labels);
        all->images.push_back(std::move(part.images.front()));
    }
    if (files.size() > 1) all->labels.where = path.string();
    splits_.push_back(std::move(*all));
}

void DatasetReader::check_shapes(const Interpretation& interpretation) const {
    const auto& first = splits_.front().first();
    const auto shape = first.shape();
    for (const auto& split : splits_)
        for (const auto& images : split.images)
            REQUIRE(shape == images.shape(), "{}: images of another shape than in {}",
                    images.where(), first.where());
    REQUIRE(axes_known_ || !interpretation.axes.empty() || shape.height == shape.width,
            "{}: images of {} x {} are not square; if that is right, convert the file with 'wasp "
            "data import hdf5' and --axes nchw or nhwc",
            first.where(), shape.height, shape.width);
}

void DatasetReader::decide_classes(const Interpretation& interpretation) {
    const Labels& train = splits_.front().labels;
    const Labels* test = has_test() ? &splits_.back().labels : nullptr;
    if (interpretation.classes)
        facts_.classes = *interpretation.classes;
    else
        facts_.classes = classes_ ? *classes_ : count_classes(train, test);
    for (const auto& split : splits_) check_labels(split.labels, facts_.classes);
}

void DatasetReader::decide_coding_of_all(Scale scale) {
    const auto& first = splits_.front().first();
    if (ours_) {
        const auto element = first.element().name();
        REQUIRE(element == "uint8" || element == "float32",
                "{}: expected uint8 or float32, found {}", first.where(), element);
        for (const auto& split : splits_)
            REQUIRE(split.first().element().name() == element, "{}: expected {}",
                    split.first().where(), element);
        if (element == "uint8") return;
        scale = Scale::none;
    }
    ReadingProgress progress(path_.string(), stored_bytes());
    std::optional<ValueRange> range;
    for (const auto& split : splits_)
        for (const auto& images : split.images) {
            const auto more = images.survey(progress);
            range = range ? range->with(more) : more;
        }
    coding_ = decide_coding(*range, scale, first.where());
}

std::size_t DatasetReader::stored_bytes() const {
    std::size_t bytes = 0;
    for (const auto& split : splits_)
        for (const auto& images : split.images) bytes += images.stored_bytes();
    return bytes;
}

std::size_t DatasetReader::bytes() const {
    return Places(facts_).end;
}

void DatasetReader::normalise(Dataset& dataset) const {
    const auto channels = static_cast<std::size_t>(facts_.channels);
    if (ours_) {
        const h5::File file(path_);
        set_normalisation(dataset, {list_attribute(file, "mean", channels, -INFINITY),
                                    list_attribute(file, "std", channels, 0)});
        dataset.sha256 = text_attribute(file, "/train/images", "sha256");
    } else {
        set_normalisation(dataset,
                          channel_statistics(dataset.train, facts_.shape, facts_.pixel_type));
        dataset.sha256 = sha256(dataset.train.images);
    }
}

void DatasetReader::fill(std::span<std::byte> memory) {
    const Places places(facts_);
    ENSURE(memory.size() >= places.end, "bug: {} bytes of memory", memory.size());
    ReadingProgress progress(path_.string(), stored_bytes());
    for (std::size_t i = 0; i < splits_.size(); ++i) {
        const auto& [images, labels] = splits_[i];
        std::size_t place = places.images[i];
        for (const auto& reader : images) {
            const std::size_t bytes = reader.count() * places.image_bytes;
            reader.read(coding_, memory.subspan(place, bytes), progress);
            place += bytes;
        }
        std::memcpy(memory.data() + places.labels[i], labels.values.data(),
                    labels.values.size() * sizeof labels.values[0]);
    }
    std::memcpy(memory.data(), &facts_, sizeof facts_);
    Dataset dataset = view_of(memory.data(), nullptr);
    normalise(dataset);
    set_text(facts_.sha256, dataset.sha256);
    std::ranges::copy(dataset.mean, facts_.mean);
    std::ranges::copy(dataset.deviation, facts_.deviation);
    std::memcpy(memory.data(), &facts_, sizeof facts_);
}

Dataset view_of(std::byte* memory, std::shared_ptr<void> keep) {
    Facts facts{};
    std::memcpy(&facts, memory, sizeof facts);
    const Places places(facts);
    const auto split = [&](std::size_t index, std::size_t count) {
        const auto* labels = reinterpret_cast<const std::uint16_t*>(memory + places.labels[index]);
        return Split{{memory + places.images[index], count * places.image_bytes},
                     {labels, count},
                     places.image_bytes};
    };
    Dataset dataset;
    dataset.name = facts.name;
    dataset.layout = facts.layout;
    dataset.sha256 = facts.sha256;
    dataset.classes = facts.classes;
    dataset.shape = facts.shape;
    dataset.pixel_type = facts.pixel_type;
    dataset.train = split(0, facts.train);
    dataset.test = split(1, facts.test);
    dataset.memory = std::move(keep);
    set_normalisation(dataset, {{facts.mean, facts.mean + facts.channels},
                                {facts.deviation, facts.deviation + facts.channels}});
    return dataset;
}

Dataset read_dataset(DatasetReader& reader) {
    const auto memory =
        std::make_shared<std::vector<std::byte, CacheAligned<std::byte>>>(reader.bytes());
    reader.fill(*memory);
    return view_of(memory->data(), memory);
}

}  // namespace wasp
