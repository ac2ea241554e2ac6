/// Labelled images in memory, one copy a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"
#include "tensor/image_batch.hpp"

namespace wasp {

/// Views into memory that the Dataset owns.   images: N × (C,H,W) pixels, back to back; labels:
/// (N).
struct Split {
    std::span<const std::byte> images;
    std::span<const std::uint16_t> labels;
    std::size_t image_bytes = 0;
    std::size_t size() const { return labels.size(); }
    const std::byte* image(std::size_t index) const { return images.data() + index * image_bytes; }
    /// The images [first, first + count).
    Split part(std::size_t first, std::size_t count) const;
};

class Dataset {
public:
    std::string name, layout, sha256;  ///< layout: what the file was recognised as, for people
    int classes = 0;
    ImageShape shape;
    PixelType pixel_type = PixelType::uint8;
    std::vector<float> mean,
        deviation;  ///< (C), of pixels scaled to [0,1]; a deviation of 0 becomes 1
    std::vector<float> scale, shift;  ///< (C), as ImageBatch wants them
    Split train, test;

    std::shared_ptr<void> memory;  ///< keeps the pixels alive
};

/// Collective. One rank of a node reads the file; all ranks of it see the same memory.
/// Error: as docs/DATA.md says for missing, foreign, broken or hostile files; the same on all
/// ranks.
Dataset load_dataset(const std::filesystem::path& path, Cluster& cluster);

/// A batch of `indices` of a split. Buffers are reused: the last batch is invalid after the next
/// call.
class BatchMaker {
public:
    BatchMaker(const Dataset& dataset, const Split& split);
    ImageBatch make(std::span<const std::uint32_t> indices);

private:
    const Dataset& dataset_;
    Split split_;
    std::vector<const std::byte*> images_;
    std::vector<int> labels_;
};

}  // namespace wasp
