/// Stale-synchronous parallel: as ASP, but no worker runs more than S steps ahead of the slowest.
///     θ += u;   wait until  my clock − slowest clock ≤ S
/// Source: Ho et al. 2013, section 2.
#include "shared_weights.hpp"
#include "table.hpp"

namespace wasp {

namespace {

std::vector<Key> keys() {
    return {{.name = "S",
             .fallback = "3",
             .high = 1'000'000'000,
             .meaning = "steps that a worker may be ahead of the slowest"},
            servers_key};
}

std::unique_ptr<Protocol> make(const Settings& settings, const ProtocolSetup& setup,
                               const Team& team) {
    return std::make_unique<SharedWeights>(
        setup, team,
        SharedRule{.weight = [](std::int64_t /*s*/) { return 1.0; }, .lead = settings.whole("S")});
}

}  // namespace

constinit const ProtocolRow ssp_row{
    .name = "ssp",
    .rule = "weights += u; then wait until my clock − the slowest clock <= S",
    .source = "Ho et al. 2013",
    .keys = keys,
    .make = make};

}  // namespace wasp
