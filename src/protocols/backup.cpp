/// BSP with backup workers: of the P gradients of a step the first P−b count, later ones are
/// dropped.
///     θ += mean of the first P−b steps u on this version;   all go on from there
/// Source: Chen, Pan, Monga, Bengio, Jozefowicz 2016 (arXiv 1604.00981), algorithms 3 and 4.
#include "base/error.hpp"
#include "shared_weights.hpp"
#include "table.hpp"

namespace wasp {

namespace {

std::vector<Key> keys() {
    return {{.name = "b",
             .fallback = "1",
             .high = 1'000'000,
             .meaning = "gradients of a step that may be missing; one worker is never missing"},
            servers_key};
}

std::unique_ptr<Protocol> make(const Settings& settings, const ProtocolSetup& setup,
                               const Team& team) {
    const std::int64_t needed = std::max<std::int64_t>(1, team.workers - settings.whole("b"));
    return std::make_unique<SharedWeights>(
        setup, team, SharedRule{.drop_from = 1, .server = {.group = needed, .synchronous = true}});
}

}  // namespace

constinit const ProtocolRow backup_row{
    .name = "backup",
    .rule = "weights += mean of the first P−b steps on this version; late gradients are dropped",
    .source = "Chen et al. 2016",
    .server_momentum = true,
    .stands_between_steps = false,  // who is late for a step waits for the others' next one
    .keys = keys,
    .make = make};

}  // namespace wasp
