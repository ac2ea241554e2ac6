/// n-softsync: an update is made of ⌊P/n⌋ gradients, each scaled by its staleness; nobody waits.
///     θ += (1/c)·Σ of c steps u/max(s,1),   c = ⌊P/n⌋, in the end of as many as have come
/// Source: Zhang, Gupta, Lian, Liu, IJCAI 2016 (arXiv 1511.05950), eq. 3–6.
#include <algorithm>

#include "base/error.hpp"
#include "shared_weights.hpp"
#include "table.hpp"

namespace wasp {

namespace {

std::vector<Key> keys() {
    return {{.name = "n",
             .fallback = "inf",
             .low = 1,
             .high = unlimited,
             .meaning = "an update takes P/n gradients, rounded down; P and above: one"},
            servers_key};
}

std::unique_ptr<Protocol> make(const Settings& settings, const ProtocolSetup& setup,
                               const Team& team) {
    const std::int64_t group = std::max<std::int64_t>(1, team.workers / settings.whole("n"));
    return std::make_unique<SharedWeights>(
        setup, team,
        SharedRule{.weight =
                       [](std::int64_t s) {
                           return 1 / static_cast<double>(std::max<std::int64_t>(s, 1));
                       },
                   .server = {.group = group}});
}

}  // namespace

constinit const ProtocolRow softsync_row{
    .name = "softsync",
    .rule = "weights += mean of P/n steps, each u/max(s,1); nobody waits",
    .source = "Zhang, Gupta, Lian, Liu, IJCAI 2016",
    .server_momentum = true,
    .keys = keys,
    .make = make};

}  // namespace wasp
