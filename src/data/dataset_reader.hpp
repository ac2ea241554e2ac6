/// Private to src/data/: one HDF5 file of labelled images, of any known layout, into memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "data/dataset.hpp"
#include "data/import.hpp"
#include "image_reader.hpp"
#include "label_reader.hpp"

namespace wasp {

/// What is known before the pixels are in memory. Trivial, so that it can lie in shared memory in
/// front of them.
struct Facts {
    static constexpr std::size_t most_channels = 16;
    char name[128], layout[64], sha256[65];
    int classes, channels;
    ImageShape shape;
    PixelType pixel_type;
    std::size_t train, test;  ///< images
    float mean[most_channels], deviation[most_channels];
};

class DatasetReader {
public:
    /// Opens, recognises and checks everything but the pixels' bytes.   Error: as load_dataset().
    /// path: an HDF5 file, or a text file that lists such of one split.
    /// test_file: the same, for the test data where `path` holds one split only.
    explicit DatasetReader(const std::filesystem::path& path,
                           const Interpretation& interpretation = {},
                           const std::optional<std::filesystem::path>& test_file = {});

    const Facts& facts() const { return facts_; }
    bool has_test() const { return splits_.size() == 2; }
    bool is_ours() const { return ours_; }
    /// What fill() needs.
    std::size_t bytes() const;

    /// Reads the pixels, and completes the facts in front of them.   memory: bytes(), aligned
    /// to 64.
    void fill(std::span<std::byte> memory);

private:
    /// Of one file, or of several, whose images stand one after the other.
    struct Part {
        std::vector<ImageReader> images;
        Labels labels;
        std::size_t count() const { return labels.values.size(); }
        const ImageReader& first() const { return images.front(); }
    };
    static Part open_part(const h5::File& file, const Plan& plan, const SplitPlan& split,
                          const Interpretation& interpretation);
    void open_file(const std::filesystem::path& path, const Interpretation& interpretation);
    void open_list(const std::filesystem::path& path,
                   const std::vector<std::filesystem::path>& files,
                   const Interpretation& interpretation);
    void check_shapes(const Interpretation& interpretation) const;
    void decide_classes(const Interpretation& interpretation);
    void decide_coding_of_all(Scale scale);
    std::size_t stored_bytes() const;
    void normalise(Dataset& dataset) const;

    std::filesystem::path path_;
    std::string layout_;
    std::optional<int> classes_;  ///< where the layout says so
    bool ours_ = false, axes_known_ = false;
    std::vector<Part> splits_;  ///< train and, where there is one, test
    PixelCoding coding_;
    Facts facts_{};
};

/// The dataset in memory that fill() has written.   keep: owns it.
Dataset view_of(std::byte* memory, std::shared_ptr<void> keep);

/// Into memory of this process alone.
Dataset read_dataset(DatasetReader& reader);

}  // namespace wasp
