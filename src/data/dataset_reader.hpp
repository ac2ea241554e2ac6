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
    explicit DatasetReader(const std::filesystem::path& path, const Interpretation& = {});

    const Facts& facts() const { return facts_; }
    bool has_test() const { return facts_.test > 0; }
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
    Part open_split(const SplitPlan& plan, const Interpretation& interpretation) const;
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
