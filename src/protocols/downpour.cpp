/// Downpour SGD: each worker steps alone, pushes the sum of its steps every n_push of them and
/// pulls every n_fetch.
///     x += u;   every n_push steps:  θ += Σu;   every n_fetch steps:  x = θ
/// Source: Dean et al. 2012, algorithm 1, with plain SGD in place of Adagrad.
#include "shared_weights.hpp"
#include "table.hpp"

namespace wasp {

namespace {

std::vector<Key> keys() {
    return {steps_key("n_push", "5", "steps between two pushes of their sum"),
            steps_key("n_fetch", "5", "steps between two pulls"), servers_key};
}

std::unique_ptr<Protocol> make(const Settings& settings, const ProtocolSetup& setup,
                               const Team& team) {
    return std::make_unique<SharedWeights>(setup, team,
                                           SharedRule{.push_every = settings.whole("n_push"),
                                                      .pull_every = settings.whole("n_fetch")});
}

}  // namespace

constinit const ProtocolRow downpour_row{
    .name = "downpour",
    .rule = "workers step alone; sums of steps are pushed, and weights pulled, every few steps",
    .source = "Dean et al. 2012",
    .server_momentum = true,
    .compresses = true,
    .keys = keys,
    .make = make};

}  // namespace wasp
