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
    /// test_file: holds the test data where `path` holds one split only.
    explicit DatasetReader(const std::filesystem::path& path,
                           const Interpretation& interpretation = {},
                           const std::optional<std::filesystem::path>& test_file = {});

    const Facts& facts() const { return facts_; }
    bool has_test() const { return splits_.size() == 2; }
    bool is_ours() const { return plan_.ours; }
    /// What fill() needs.
    std::size_t bytes() const;

    /// Reads the pixels, and completes the facts in front of them.   memory: bytes(), aligned
    /// to 64.
    void fill(std::span<std::byte> memory);

private:
    struct Part {
        ImageReader images;
        Labels labels;
    };
    static Part open_split(const h5::File& file, const Plan& plan, const SplitPlan& split,
                           const Interpretation& interpretation);
    void open_test_file(const std::filesystem::path& path, const Interpretation& interpretation);
    void check_shapes(const Interpretation& interpretation) const;
    void decide_classes(const Interpretation& interpretation);
    void decide_coding_of_all(Scale scale);
    void normalise(Dataset& dataset) const;

    h5::File file_;
    Plan plan_;
    std::vector<Part> splits_;  ///< train and, where there is one, test
    PixelCoding coding_;
    Facts facts_{};
};

/// The dataset in memory that fill() has written.   keep: owns it.
Dataset view_of(std::byte* memory, std::shared_ptr<void> keep);

/// Into memory of this process alone.
Dataset read_dataset(DatasetReader& reader);

}  // namespace wasp
