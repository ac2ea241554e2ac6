/// Private to src/data/: images as text.
#pragma once

#include <string>

#include "data/dataset.hpp"

namespace wasp {

/// The first image of each of the first six classes, three beside one another, in blocks of five
/// shades; each line ends with a newline.
std::string picture_of(const Dataset& dataset, const Split& split);

}  // namespace wasp
