/// Asynchronous parallel: each step is added on arrival, however stale.
///     θ += u,   or u/P
/// Source: Dean et al. 2012 (Downpour with n_push = n_fetch = 1).
#include <array>

#include "shared_weights.hpp"
#include "table.hpp"

namespace wasp {

namespace {

constexpr std::array scales{Choice{"1", "each step counts in full: mass P"},
                            Choice{"mean", "each step counts 1/P: mass 1, as BSP"}};

std::vector<Key> keys() {
    return {{.name = "scale",
             .kind = Key::Kind::choice,
             .fallback = "1",
             .choices = scales,
             .meaning = "what a step is multiplied with:"},
            servers_key,
            node_sum_key};
}

std::unique_ptr<Protocol> make(const Settings& settings, const ProtocolSetup& setup,
                               const Team& team) {
    const double weight = settings.chosen("scale", "mean") ? 1.0 / team.workers : 1.0;
    return std::make_unique<SharedWeights>(
        setup, team, SharedRule{.weight = [weight](std::int64_t /*s*/) { return weight; }});
}

}  // namespace

constinit const ProtocolRow asp_row{.name = "asp",
                                    .rule = "weights += u on arrival; nobody waits",
                                    .source = "Dean et al. 2012",
                                    .server_momentum = true,
                                    .overlaps = true,
                                    .compresses = true,
                                    .keys = keys,
                                    .make = make};

}  // namespace wasp
