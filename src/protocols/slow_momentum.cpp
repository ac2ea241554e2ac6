/// Local SGD with slow momentum on the averaged step; two names that differ where η changes.
///     every H steps:  m = mean of all x;   Δ = β·Δ + α·(m − a);   a += Δ;   x = a
/// slowmo: Δ = −α·η·u with u = β·u + (a − m)/η, so Δ is scaled as η is. Source: Wang et al. 2019
/// (arXiv 1910.00643), algorithm 1. bmuf: Δ as it was, classical block momentum, or Nesterov's,
/// where all go on from a + β·Δ. Source: Chen and Huo 2016, eq. 4–8.
#include <array>

#include "averaging.hpp"
#include "table.hpp"

namespace wasp {

namespace {

std::vector<Key> keys(std::string_view period, std::string_view momentum) {
    return {
        mean_period_key(period),
        {.name = "beta",
         .kind = Key::Kind::number,
         .fallback = momentum,
         .high = 0.9999,
         .meaning = "slow momentum"},
        {.name = "alpha",
         .kind = Key::Kind::number,
         .fallback = "1",
         .high = 100,
         .meaning = "slow learning rate"},
        local_velocity_key(),
    };
}

constexpr std::array block_momenta{Choice{"classical", "all go on from the model that it made"},
                                   Choice{"nesterov", "they go on from where it will lead next"}};

std::vector<Key> bmuf_keys() {
    auto all = keys("50", "0.875");
    all.push_back({.name = "momentum",
                   .kind = Key::Kind::choice,
                   .fallback = "classical",
                   .choices = block_momenta,
                   .meaning = "block momentum:"});
    return all;
}

AveragingRule rule_of(const Settings& settings) {
    return {.period = settings.whole("H"),
            .slow_momentum = static_cast<float>(settings.number("beta")),
            .slow_rate = static_cast<float>(settings.number("alpha")),
            .velocity = local_velocity(settings)};
}

}  // namespace

constinit const ProtocolRow slowmo_row{
    .name = "slowmo",
    .rule = "local SGD, and slow momentum, scaled as the learning rate is, on the averaged step",
    .source = "Wang et al. 2019",
    .keys = [] { return keys("48", "0.5"); },
    .make = [](const Settings& settings, const ProtocolSetup& setup,
               const Team& /*team*/) -> std::unique_ptr<Protocol> {
        AveragingRule rule = rule_of(settings);
        rule.slow_follows_rate = true;
        return std::make_unique<Averaging>(setup, rule);
    }};

constinit const ProtocolRow bmuf_row{
    .name = "bmuf",
    .rule = "local SGD, and block momentum on the averaged step",
    .source = "Chen and Huo 2016",
    .keys = bmuf_keys,
    .make = [](const Settings& settings, const ProtocolSetup& setup,
               const Team& /*team*/) -> std::unique_ptr<Protocol> {
        AveragingRule rule = rule_of(settings);
        rule.look_ahead = settings.chosen("momentum", "nesterov");
        return std::make_unique<Averaging>(setup, rule);
    }};

}  // namespace wasp
