/// Local SGD: each worker steps alone, and every H steps all take the mean of their models.
///     x += u(g);   every H steps:  x = mean of all x
/// Source: Stich 2018 (arXiv 1805.09767); post: Lin et al. 2018 (arXiv 1808.07217).
#include "averaging.hpp"
#include "table.hpp"

namespace wasp {

namespace {

std::vector<Key> keys() {
    return {
        mean_period_key("8"),
        {.name = "post", .fallback = "0", .high = unlimited, .meaning = "step until which H is 1"},
        local_velocity_key()};
}

std::unique_ptr<Protocol> make(const Settings& settings, const ProtocolSetup& setup,
                               const Team& /*team*/) {
    return std::make_unique<Averaging>(setup,
                                       AveragingRule{.period = settings.whole("H"),
                                                     .every_step_till = settings.whole("post"),
                                                     .velocity = local_velocity(settings)});
}

}  // namespace

constinit const ProtocolRow localsgd_row{
    .name = "localsgd",
    .rule = "each worker steps alone; every H steps all take the mean of their models",
    .source = "Stich 2018; post: Lin et al. 2018",
    .keys = keys,
    .make = make};

}  // namespace wasp
