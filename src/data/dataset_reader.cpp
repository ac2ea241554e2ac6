#include "dataset_reader.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/aligned.hpp"
#include "base/error.hpp"
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
    if (images.empty()) return recognise_layout(file);
    const auto from_root = [](const std::string& name) {
        return name.starts_with('/') ? name : "/" + name;
    };
    return {.layout = "as named",
            .train = {{from_root(images)}, {from_root(labels)}},
            .images_first = false};
}

}  // namespace

DatasetReader::DatasetReader(const std::filesystem::path& path,
                             const Interpretation& interpretation,
                             const std::optional<std::filesystem::path>& test_file)
    : file_(path), plan_(make_plan(file_, interpretation)) {
    splits_.push_back(open_split(file_, plan_, plan_.train, interpretation));
    if (plan_.test) splits_.push_back(open_split(file_, plan_, *plan_.test, interpretation));
    if (test_file) open_test_file(*test_file, interpretation);
    check_shapes(interpretation);
    decide_classes(interpretation);
    decide_coding_of_all(interpretation.scale);

    const auto& train = splits_.front().images;
    set_text(facts_.name, plan_.ours ? text_attribute(file_, "/", "name") : path.stem().string());
    set_text(facts_.layout, plan_.layout);
    facts_.channels = train.shape().channels;
    facts_.shape = train.shape();
    facts_.pixel_type = coding_.type;
    facts_.train = train.count();
    facts_.test = has_test() ? splits_.back().images.count() : 0;
}

DatasetReader::Part DatasetReader::open_split(const h5::File& file, const Plan& plan,
                                              const SplitPlan& split,
                                              const Interpretation& interpretation) {
    const Axes axes = interpretation.axes == Axes::by_shape ? plan.axes : interpretation.axes;
    ImageReader images(file.array(split.images.dataset), split.images, axes, plan.images_first);
    const auto labels = file.array(split.labels.dataset);
    const std::size_t count = count_rows(labels, split.labels);
    REQUIRE(count == images.count(), "{}: {} images, but {} labels in {}", images.array().where(),
            images.count(), count, split.labels.dataset);
    return {std::move(images), read_labels(labels, split.labels, interpretation.label_base)};
}

void DatasetReader::open_test_file(const std::filesystem::path& path,
                                   const Interpretation& interpretation) {
    REQUIRE(!has_test(), "{}: holds training and test data; leave out {}", file_.path().string(),
            path.string());
    const h5::File file(path);
    const Plan plan = make_plan(file, interpretation);
    REQUIRE(!plan.test, "{}: holds training and test data; give it alone", path.string());
    splits_.push_back(open_split(file, plan, plan.train, interpretation));
}

void DatasetReader::check_shapes(const Interpretation& interpretation) const {
    const auto& first = splits_.front().images;
    const auto& last = splits_.back().images;
    const auto shape = first.shape();
    REQUIRE(shape == last.shape(), "{}: images of another shape than in {}", last.array().where(),
            first.array().where());
    const bool declared = plan_.ours || interpretation.axes != Axes::by_shape;
    REQUIRE(declared || shape.height == shape.width,
            "{}: images of {} x {} are not square; if that is right, convert the file with 'wasp "
            "data import hdf5' and --axes nchw or nhwc",
            first.array().where(), shape.height, shape.width);
}

void DatasetReader::decide_classes(const Interpretation& interpretation) {
    const Labels& train = splits_.front().labels;
    const Labels* test = has_test() ? &splits_.back().labels : nullptr;
    if (interpretation.classes)
        facts_.classes = *interpretation.classes;
    else
        facts_.classes = plan_.classes ? *plan_.classes : count_classes(train, test);
    for (const auto& split : splits_) check_labels(split.labels, facts_.classes);
}

void DatasetReader::decide_coding_of_all(Scale scale) {
    const auto& array = splits_.front().images.array();
    if (plan_.ours) {
        const auto element = array.element().name();
        REQUIRE(element == "uint8" || element == "float32",
                "{}: expected uint8 or float32, found {}", array.where(), element);
        for (const auto& split : splits_)
            REQUIRE(split.images.array().element().name() == element, "{}: expected {}",
                    split.images.array().where(), element);
        if (element == "uint8") return;
        scale = Scale::none;
    }
    auto range = splits_.front().images.survey();
    if (has_test()) range = range.with(splits_.back().images.survey());
    coding_ = decide_coding(range, scale, array.where());
}

std::size_t DatasetReader::bytes() const {
    return Places(facts_).end;
}

void DatasetReader::normalise(Dataset& dataset) const {
    const auto channels = static_cast<std::size_t>(facts_.channels);
    if (plan_.ours) {
        set_normalisation(dataset, {list_attribute(file_, "mean", channels, -INFINITY),
                                    list_attribute(file_, "std", channels, 0)});
        dataset.sha256 = text_attribute(file_, "/train/images", "sha256");
    } else {
        set_normalisation(dataset,
                          channel_statistics(dataset.train, facts_.shape, facts_.pixel_type));
        dataset.sha256 = sha256(dataset.train.images);
    }
}

void DatasetReader::fill(std::span<std::byte> memory) {
    const Places places(facts_);
    ENSURE(memory.size() >= places.end, "bug: {} bytes of memory", memory.size());
    for (std::size_t i = 0; i < splits_.size(); ++i) {
        const auto& [images, labels] = splits_[i];
        images.read(coding_, memory.subspan(places.images[i], images.count() * places.image_bytes));
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
