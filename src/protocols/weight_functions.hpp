/// Weight functions w(s): how much an update counts whose gradient is s versions old.
#pragma once

#include <functional>
#include <vector>

#include "base/state.hpp"
#include "settings.hpp"

namespace wasp {

using WeightFunction = std::function<double(std::int64_t staleness)>;

/// The keys "weight" and "mass", and the keys of each weight function.
std::vector<Key> weight_keys();

WeightFunction make_weight(const Settings& settings, int workers);

/// With mass=one: w(s)/(P·w̄), w̄ the mean of this worker's weights, of the last hundred or so.
class UnitMass {
public:
    explicit UnitMass(int workers) : workers_(workers) {}
    double divide(double weight);
    void visit(State& state);

private:
    double workers_, mean_ = 0;
    int seen_ = 0;
};
bool wants_unit_mass(const Settings& settings);

/// Of weight=drop: gradients of at least this staleness are thrown away; else never.
std::int64_t drop_from(const Settings& settings);

}  // namespace wasp
