/// Making data files of our own layout (docs/DATA.md) from what people have.
/// Each writes aside and renames, so that `out` is complete or not there, and returns one line for
/// people: what was read and written.
/// Error (of all): `out` exists or can't be written; the input is missing, damaged or not of the
/// format, with file and place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "tensor/image_batch.hpp"

namespace wasp {

/// Plain or gzipped, which is decided by content.
struct IdxFiles {
    std::filesystem::path train_images, train_labels, test_images, test_labels;
};

/// The four usual names (train-images-idx3-ubyte …, t10k-labels-idx1-ubyte, with .gz or without).
/// Error: one is missing.
IdxFiles idx_files_in(const std::filesystem::path& folder);

/// MNIST and what follows its format.   Source: Y. LeCun, yann.lecun.com/exdb/mnist.
std::string import_idx(const IdxFiles& files, const std::filesystem::path& out);

/// The binary version: data_batch_1.bin … data_batch_5.bin, test_batch.bin.
/// Source: A. Krizhevsky, www.cs.toronto.edu/~kriz/cifar.html.
std::string import_cifar10(const std::filesystem::path& folder, const std::filesystem::path& out);

/// The binary version: train.bin, test.bin; the labels are the fine ones.
std::string import_cifar100(const std::filesystem::path& folder, const std::filesystem::path& out);

/// The order of the dimensions of an array of images, outermost first: n (images), h and w once
/// each, and c (channels) at most once: "nchw", "nhwc", "hwcn", "nwh" …
/// Error: anything else.
void check_axes(std::string_view axes);

enum class Scale {
    by_values,  ///< decided from the values; refused when ambiguous
    max_255,    ///< 0 … 255
    max_1,      ///< 0 … 1
    none,       ///< standardised or the like: used as they are
    wrapped,    ///< int8 that holds the bytes of 0 … 255: what is negative is above 127
};

/// What an HDF5 file does not say of itself.
struct Interpretation {
    std::string images{}, labels{};  ///< names of the datasets; empty: as the layout says
    std::string axes{};              ///< as check_axes(); empty: decided from the shape
    Scale scale = Scale::by_values;
    bool bgr = false;              ///< the channels are blue, green, red
    int label_base = 0;            ///< the first class: 0 or 1
    std::optional<int> classes{};  ///< empty: as many as there are labels
};

/// Any layout that load_dataset() reads, or a text file that lists such files of one split. Where
/// `file` holds one split only, `test_file` holds the other.
std::string import_hdf5(const std::filesystem::path& file,
                        const std::optional<std::filesystem::path>& test_file,
                        const Interpretation& interpretation, const std::filesystem::path& out);

struct SynthSetup {
    int classes = 10;
    ImageShape shape{1, 28, 28};
    std::size_t train = 5000, test = 1000;
    std::uint64_t seed = 1;
};

/// A learnable set: every class has a smooth prototype; images are its shifted and noisy copies.
/// The same bytes for the same setup.   Error: no classes, no images, or impossible sizes.
std::string synthesise(const SynthSetup& setup, const std::filesystem::path& out);

}  // namespace wasp
