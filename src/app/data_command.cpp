#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/error.hpp"
#include "base/spec.hpp"
#include "command.hpp"
#include "data/import.hpp"
#include "data/inspect.hpp"
#include "output.hpp"

namespace wasp {

namespace {

constexpr auto out_help = "the data file to make (HDF5); an existing one is refused";

int show(const std::string& text) {
    say(text.ends_with('\n') ? text : text + '\n');
    return 0;
}

void add_import_idx(CLI::App& group, Commands& commands) {
    struct Options {
        std::string folder, train_images, train_labels, test_images, test_labels, out;
    };
    const auto options = std::make_shared<Options>();
    OptionTable table;
    table.positional("DIR", options->folder, "folder with files of the four usual names");
    table.text("train-images", options->train_images, "FILE", "instead of DIR, as are the next");
    table.text("train-labels", options->train_labels, "FILE", "");
    table.text("test-images", options->test_images, "FILE", "");
    table.text("test-labels", options->test_labels, "FILE", "");
    table.text("out", options->out, "FILE", out_help);
    table.required();
    add_command(group, commands, "idx", "MNIST, Fashion-MNIST and the like, plain or gzipped",
                std::move(table), [options](Arguments& /*arguments*/) {
                    IdxFiles files{options->train_images, options->train_labels,
                                   options->test_images, options->test_labels};
                    const std::array given{!files.train_images.empty(), !files.train_labels.empty(),
                                           !files.test_images.empty(), !files.test_labels.empty()};
                    const auto named = std::ranges::count(given, true);
                    REQUIRE(options->folder.empty() ? named == 4 : named == 0,
                            "give either DIR or all of --train-images, --train-labels, "
                            "--test-images and --test-labels");
                    if (!options->folder.empty()) files = idx_files_in(options->folder);
                    return show(import_idx(files, options->out));
                });
}

using ImportFolder = std::string (*)(const std::filesystem::path& folder,
                                     const std::filesystem::path& out);

void add_import_folder(CLI::App& group, Commands& commands, const std::string& name,
                       const std::string& help, ImportFolder import) {
    struct Options {
        std::string folder, out;
    };
    const auto options = std::make_shared<Options>();
    OptionTable table;
    table.positional("DIR", options->folder, "folder with the files");
    table.required();
    table.text("out", options->out, "FILE", out_help);
    table.required();
    add_command(group, commands, name, help, std::move(table),
                [options, import](Arguments& /*arguments*/) {
                    return show(import(options->folder, options->out));
                });
}

void add_import_hdf5(CLI::App& group, Commands& commands) {
    struct Options {
        std::vector<std::string> files;
        std::string out;
        Interpretation interpretation;
        std::int64_t label_base = 0;
        std::optional<std::int64_t> classes;
    };
    const auto options = std::make_shared<Options>();
    Interpretation& meaning = options->interpretation;
    OptionTable table;
    table.positional("FILE", options->files,
                     "of any known layout, or a text file that lists such; a second one holds the "
                     "test images");
    table.required();
    table.text("out", options->out, "FILE", out_help);
    table.required();
    table.text("images", meaning.images, "NAME", "the dataset of the images");
    table.text("labels", meaning.labels, "NAME", "the dataset of the labels");
    table.parsed(
        "axes", "ORDER",
        [&meaning](std::string_view text) {
            check_axes(text);
            meaning.axes = text;
        },
        [&meaning] { return meaning.axes; },
        "order of the images' dimensions: nchw, nhwc, hwcn, nwh …; else as the shape tells");
    table.choice<Scale>("scale", meaning.scale,
                        {{"auto", Scale::by_values},
                         {"255", Scale::max_255},
                         {"1", Scale::max_1},
                         {"none", Scale::none},
                         {"wrapped", Scale::wrapped}},
                        "what a white pixel is; none: the images are standardised already; "
                        "wrapped: bytes as int8");
    table.flag("bgr", meaning.bgr, "the channels are blue, green and red");
    table.whole("label-base", options->label_base, {0, 1}, "the first class");
    table.whole("classes", options->classes, {1, 65535}, "if there are more than the labels show");
    add_command(
        group, commands, "hdf5", "HDF5 files of other programs", std::move(table),
        [options](Arguments& /*arguments*/) {
            REQUIRE(options->files.size() <= 2, "{} files: one or two can be imported",
                    options->files.size());
            auto interpretation = options->interpretation;
            interpretation.label_base = static_cast<int>(options->label_base);
            if (options->classes) interpretation.classes = static_cast<int>(*options->classes);
            std::optional<std::filesystem::path> test;
            if (options->files.size() == 2) test = options->files.back();
            return show(import_hdf5(options->files.front(), test, interpretation, options->out));
        });
}

ImageShape parse_shape(std::string_view text) {
    std::array<std::int64_t, 3> sizes{};
    std::string_view rest = text;
    for (auto& size : sizes) {
        const auto word = rest.substr(0, rest.find(','));
        const auto value = parse_whole(word);
        const bool last = &size == &sizes.back();
        REQUIRE(value && *value >= 1 && *value <= 4096 && last == (word.size() == rest.size()),
                "'{}' must be C,H,W: three whole numbers from 1 to 4096", text);
        size = *value;
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
    return {static_cast<int>(sizes[0]), static_cast<int>(sizes[1]), static_cast<int>(sizes[2])};
}

void add_synth(CLI::App& group, Commands& commands) {
    struct Options {
        SynthSetup setup;
        std::int64_t classes = 10, train = 5000, test = 1000, seed = 1;
        std::string out;
    };
    const auto options = std::make_shared<Options>();
    OptionTable table;
    table.whole("classes", options->classes, {1, 65535}, "");
    table.parsed(
        "shape", "C,H,W",
        [options](std::string_view text) { options->setup.shape = parse_shape(text); },
        [options] {
            const auto& shape = options->setup.shape;
            return fmt::format("{},{},{}", shape.channels, shape.height, shape.width);
        },
        "channels, height and width of an image");
    table.whole("train", options->train, {1}, "training images");
    table.whole("test", options->test, {1}, "test images");
    table.whole("seed", options->seed, {0}, "");
    table.text("out", options->out, "FILE", out_help);
    table.required();
    add_command(group, commands, "synth", "make a learnable set of images", std::move(table),
                [options](Arguments& /*arguments*/) {
                    SynthSetup setup = options->setup;
                    setup.classes = static_cast<int>(options->classes);
                    setup.train = static_cast<std::size_t>(options->train);
                    setup.test = static_cast<std::size_t>(options->test);
                    setup.seed = static_cast<std::uint64_t>(options->seed);
                    return show(synthesise(setup, options->out));
                });
}

void add_info(CLI::App& group, Commands& commands) {
    struct Options {
        std::string file, png;
    };
    const auto options = std::make_shared<Options>();
    OptionTable table;
    table.positional("FILE", options->file, "an HDF5 file of any known layout");
    table.required();
    table.text("png", options->png, "FILE", "also draw some images of each class");
    add_command(group, commands, "info", "shape, classes, statistics and a few pictures",
                std::move(table), [options](Arguments& /*arguments*/) {
                    std::optional<std::filesystem::path> png;
                    if (!options->png.empty()) png = options->png;
                    return show(dataset_info(options->file, png));
                });
}

void add_check(CLI::App& group, Commands& commands) {
    const auto files = std::make_shared<std::vector<std::string>>();
    OptionTable table;
    table.positional("FILE", *files, "HDF5, IDX or CIFAR's binaries");
    table.required();
    add_command(group, commands, "check", "read everything, and fail at the first fault",
                std::move(table), [files](Arguments& /*arguments*/) {
                    for (const auto& file : *files) show(check_data_file(file));
                    return 0;
                });
}

}  // namespace

void add_data_commands(CLI::App& program, Commands& commands) {
    auto& data = add_group(program, "data", "make, look at and check data files");
    auto& import = add_group(data, "import", "convert what you have");
    add_import_idx(import, commands);
    add_import_folder(import, commands, "cifar10", "CIFAR-10's binary version", import_cifar10);
    add_import_folder(import, commands, "cifar100", "CIFAR-100's binary version", import_cifar100);
    add_import_hdf5(import, commands);
    add_synth(data, commands);
    add_info(data, commands);
    add_check(data, commands);
}

}  // namespace wasp
