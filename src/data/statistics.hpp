/// Private to src/data/: mean and deviation of each channel, and what a model makes of them.
#pragma once

#include "data/dataset.hpp"

namespace wasp {

struct ChannelStatistics {
    std::vector<float> mean, deviation;  ///< (C), of uint8 pixels / 255, or of floats as they are
};

ChannelStatistics channel_statistics(const Split& split, ImageShape shape, PixelType type);

/// Sets mean, deviation (0 becomes 1: all pixels are the same), scale and shift of the dataset.
void set_normalisation(Dataset& dataset, const ChannelStatistics& statistics);

}  // namespace wasp
