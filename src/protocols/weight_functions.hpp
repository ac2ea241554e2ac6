/// Weight functions w(s): how much an update counts whose gradient is s versions old.
#pragma once

#include <functional>
#include <vector>

#include "settings.hpp"

namespace wasp {

using WeightFunction = std::function<double(std::int64_t staleness)>;

/// The keys "weight" and "mass", and the keys of each weight function.
std::vector<Key> weight_keys();

/// One worker's: with mass=one it keeps the mean of its weights.
WeightFunction make_weight(const Settings& settings, int workers);

/// Of weight=drop: gradients of at least this staleness are thrown away; else never.
std::int64_t drop_from(const Settings& settings);

}  // namespace wasp
