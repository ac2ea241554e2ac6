/// What the parts of a training run on one rank have in common.
#pragma once

#include <cstdint>

#include "app/train_config.hpp"
#include "cluster/cluster.hpp"
#include "cluster/restorable.hpp"
#include "data/dataset.hpp"
#include "data/sampler.hpp"
#include "holdout.hpp"
#include "nn/model.hpp"
#include "protocols/protocol.hpp"
#include "run_control.hpp"

namespace wasp {

struct Run {
    RestorableCluster& cluster;  ///< what is made through it is part of checkpoints
    const TrainConfig& config;   ///< complete: what was left to the program is chosen
    const ProtocolFacts& facts;
    const Team& team;
    const Dataset& dataset;
    const Holdout& holdout;
    Model& model;
    RunControl& control;
    bool has_gradients = true;  ///< false: time passes as if there were some

    /// The lowest rank that trains: its model is the one of the curve, and it writes the results.
    int first_worker() const { return cluster.size() - team.workers; }
    bool is_first_worker() const { return team.worker == 0; }

    /// Images that all workers together see in one epoch.
    std::int64_t images_per_epoch() const {
        const auto images = static_cast<std::int64_t>(holdout.train.size());
        const int full = facts.groups > 0 ? facts.groups : team.workers;
        return config.shards == Shards::full ? images * full : images;
    }
};

/// Full shards are those of a group, where workers train in groups: its members divide them.
SamplerSetup sampler_setup(const TrainConfig& config, const ProtocolFacts& facts,
                           const Holdout& holdout, int worker, int workers);

/// Images that a model is given at once when it is evaluated; the models are made for it.
std::size_t evaluation_batch(const TrainConfig& config);

}  // namespace wasp
