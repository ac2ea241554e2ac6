/// Stale-synchronous parallel, and SGD of constant and of dynamic learning rate on top of it: no
/// worker runs more than S steps ahead of the slowest.
///     θ += w(s)·u;   wait until  my clock − slowest clock ≤ S
///     ssp: w = 1.   Source: Ho et al. 2013, section 2.
///     consgd: w = 1/P;   dynsgd: w = 1/(1+s).   Source: Jiang et al., SIGMOD 2017.
#include "shared_weights.hpp"
#include "table.hpp"

namespace wasp {

namespace {

std::vector<Key> keys() {
    return {{.name = "S",
             .fallback = "3",
             .high = most_steps,
             .meaning = "steps that a worker may be ahead of the slowest"},
            servers_key,
            node_sum_key};
}

template <WeightFunction (*weight)(const Team& team)>
std::unique_ptr<Protocol> make(const Settings& settings, const ProtocolSetup& setup,
                               const Team& team) {
    return std::make_unique<SharedWeights>(
        setup, team, SharedRule{.weight = weight(team), .lead = settings.whole("S")});
}

WeightFunction full(const Team& /*team*/) {
    return [](std::int64_t /*s*/) { return 1.0; };
}

WeightFunction mean(const Team& team) {
    return [w = 1.0 / team.workers](std::int64_t /*s*/) { return w; };
}

WeightFunction inverse(const Team& /*team*/) {
    return [](std::int64_t s) { return 1 / (1 + static_cast<double>(s)); };
}

}  // namespace

constinit const ProtocolRow ssp_row{
    .name = "ssp",
    .rule = "weights += u; then wait until my clock − the slowest clock <= S",
    .source = "Ho et al. 2013",
    .server_momentum = true,
    .overlaps = true,
    .compresses = true,
    .keys = keys,
    .make = make<full>};

constinit const ProtocolRow consgd_row{.name = "consgd",
                                       .rule = "as ssp, with weights += u/P",
                                       .source = "Jiang et al., SIGMOD 2017",
                                       .server_momentum = true,
                                       .overlaps = true,
                                       .compresses = true,
                                       .keys = keys,
                                       .make = make<mean>};

constinit const ProtocolRow dynsgd_row{.name = "dynsgd",
                                       .rule = "as ssp, with weights += u/(1+s)",
                                       .source = "Jiang et al., SIGMOD 2017",
                                       .server_momentum = true,
                                       .overlaps = true,
                                       .compresses = true,
                                       .keys = keys,
                                       .make = make<inverse>};

}  // namespace wasp
