#include "initialise.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace wasp::nn {

void initialise(const ModelSetup& setup, const ParameterShape& parameter, std::span<float> values) {
    RandomStream random(setup.seed, parameter.name);
    const auto fan_in = static_cast<double>(parameter.fan_in);
    const bool is_bias = parameter.dimensions.size() == 1;
    switch (setup.initialisation) {
        case Initialisation::pytorch: {
            const double bound = 1 / std::sqrt(fan_in);
            for (float& value : values) value = static_cast<float>(random.uniform(-bound, bound));
            break;
        }
        case Initialisation::he: {
            const double deviation = is_bias ? 0 : std::sqrt(2 / fan_in);
            for (float& value : values) value = static_cast<float>(deviation * random.normal());
            break;
        }
    }
}

}  // namespace wasp::nn
