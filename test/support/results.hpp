/// A small run as an example: two ranks, of which the second made fewer steps.
#pragma once

#include <string>

#include "report/provenance.hpp"
#include "report/results_file.hpp"
#include "report/summary.hpp"

namespace wasp::test {

inline RankRow example_rank(int number, int steps) {
    RankRow rank;
    rank.host = "node" + std::to_string(number);
    rank.cpus = "0-1";
    rank.node = number;
    rank.socket = 0;
    rank.threads = 2;
    rank.samples = 16 * steps;
    rank.updates = steps;
    rank.weight_sum = 1 + 0.5 * (steps - 1);
    rank.compute = 0.75 * steps;
    rank.pull = 0.0625 * steps;
    rank.push = 0.0625 * steps;
    rank.wait = 0.125 * number * steps;
    rank.data = 0.0625 * steps;
    rank.bytes = 1000 * steps;
    rank.dropped = number;
    rank.held_up = 0.25 * number;
    rank.divergence_sum = 0.5 * number;
    rank.synchronisations = number;
    rank.staleness = {1, steps - 1};
    for (int step = 0; step < steps; ++step)
        rank.steps.push_back({.seconds = step + 1.0,
                              .loss = 2.5F / static_cast<float>(step + 1),
                              .weight = step == 0 ? 1.0F : 0.5F,
                              .version = 2 * step,
                              .staleness = step == 0 ? 0 : 1,
                              .compute = 0.75,
                              .pull = 0.0625,
                              .push = 0.0625,
                              .wait = 0.125 * number});
    return rank;
}

inline Results example_results() {
    Results results;
    results.status = "finished";
    results.config = {{"protocol", std::string("wasp:period=50")},
                      {"epochs", std::int64_t{2}},
                      {"lr", 0.0625},
                      {"nesterov", false}};
    results.curve = {{.seconds = 2,
                      .epoch = 1,
                      .samples = 64,
                      .version = 4,
                      .train_loss = 1.5,
                      .test_loss = 1.25,
                      .test_accuracy = 0.5,
                      .learning_rate = 0.0625},
                     {.seconds = 4,
                      .epoch = 2,
                      .samples = 112,
                      .version = 7,
                      .train_loss = 1,
                      .test_loss = 0.75,
                      .test_accuracy = 0.75,
                      .learning_rate = 0.03125}};
    results.ranks = {example_rank(0, 4), example_rank(1, 3)};
    results.models = {
        {.name = "shared", .validation_loss = 0.5, .test_loss = 0.75, .test_accuracy = 0.75}};
    RunFacts facts;
    facts.cluster = "2 threads";
    facts.ranks = results.ranks;
    results.provenance = provenance(facts);
    results.summary = as_attributes(summarise(results, 4, std::nullopt));
    return results;
}

}  // namespace wasp::test
