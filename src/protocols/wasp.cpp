/// WASP: asynchronous steps, weighted by their staleness, and a forced synchronisation every T.
///     s = ticket − v;   θ += w(s)·u;   every T: all meet and start from the same θ; else v, θ anew
/// A reconstruction: of Ye, Chen, Yan, Wu, Xiao, ICA3PP 2018 (doi 10.1007/978-3-030-05054-2_32)
/// only the abstract is public: a staleness metric based on the parameters' version number weights
/// the gradients; parameters are synchronised by force periodically. The weight functions, their
/// default, the period and the momentum (kept by each worker) are our reading.
#include <array>

#include "shared_weights.hpp"
#include "table.hpp"

namespace wasp {

namespace {

constexpr std::array triggers{
    Choice{"iterations", "every T steps of each worker: the fast wait for the slow"},
    Choice{"versions", "after T·P updates in all: a slow worker is waited for one step at most"}};

std::vector<Key> keys() {
    auto keys = weight_keys();
    keys.push_back({.name = "period",
                    .fallback = "50",
                    .low = 1,
                    .high = unlimited,
                    .meaning = "T, between forced synchronisations; inf: none"});
    keys.push_back({.name = "trigger",
                    .kind = Key::Kind::choice,
                    .fallback = "iterations",
                    .choices = triggers,
                    .meaning = "what T counts:"});
    keys.push_back(servers_key);
    keys.push_back(node_sum_key);
    return keys;
}

std::unique_ptr<Protocol> make(const Settings& settings, const ProtocolSetup& setup,
                               const Team& team) {
    const SharedRule rule{.weight = make_weight(settings, team.workers),
                          .unit_mass = wants_unit_mass(settings),
                          .drop_from = drop_from(settings),
                          .period = settings.whole("period"),
                          .trigger = settings.chosen("trigger", "versions") ? Trigger::versions
                                                                            : Trigger::iterations};
    return std::make_unique<SharedWeights>(setup, team, rule);
}

}  // namespace

constinit const ProtocolRow wasp_row{
    .name = "wasp",
    .rule =
        "weights += w(s)·u on arrival; every T all meet and start from the same weights\n"
        "           (a reconstruction: the paper is public as an abstract only)",
    .source = "Ye, Chen, Yan, Wu, Xiao, ICA3PP 2018, doi 10.1007/978-3-030-05054-2_32",
    .server_momentum = true,
    .overlaps = true,
    .compresses = true,
    .keys = keys,
    .make = make};

}  // namespace wasp
