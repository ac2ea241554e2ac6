/// Private to src/data/: images as text, and as a picture.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace wasp {

/// The first image of each of the first six classes, three beside one another, in blocks of five
/// shades; each line ends with a newline.
std::string picture_of(const Dataset& dataset, const Split& split);

/// A PNG file: the first ten images of each of the first twenty classes, a row a class; in colour
/// where there are three channels, else their mean. Small images are enlarged.
std::vector<std::byte> png_of(const Dataset& dataset, const Split& split);

}  // namespace wasp
