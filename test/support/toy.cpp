#include "support/toy.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace wasp::test {

Toy::Toy(std::size_t n) : weights(n), gradients(n) {
    for (std::size_t i = 0; i < n; ++i)
        weights[i] = static_cast<float>(static_cast<int>(i % 5) - 2) / 4;
}

float Toy::gradient(std::int64_t worker, std::int64_t step) {
    const std::size_t n = weights.size();
    float loss = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto wave = static_cast<std::int64_t>(i) * 7 + worker * 13 + step * 5;
        const float target = static_cast<float>(wave % 17 - 8) / 8;
        const float x = weights[i];
        const float d = x - target;
        const float coupling = 0.125F * (x - weights[(i + 1) % n]);
        gradients[i] = (d + coupling) + 0.25F * (x * x * x);
        loss += d * d;
    }
    return loss / static_cast<float>(n);
}

/// As a residual network does, whose last shortcut is final after the layers beside it.
static void hand_over_in_slices(Protocol& protocol, Replica replica) {
    const std::size_t n = replica.gradients.size();
    for (const auto& [first, last] :
         {std::pair{n / 2, n - 1}, {n - 1, n}, {n / 3, n / 2}, {std::size_t{0}, n / 3}}) {
        protocol.gradient_ready(replica, first, last - first);
        protocol.between_layers();
    }
}

Trained train(Cluster& cluster, const Training& training) {
    Toy toy(training.n);
    Sgd sgd(training.n, training.sgd);
    sgd.set_learning_rate(training.rate);
    const auto planned = training.planned_steps > 0 ? training.planned_steps : training.steps;
    const auto protocol =
        make_protocol(training.spec, {.cluster = cluster,
                                      .sgd = sgd,
                                      .weights = toy.weights,
                                      .seed = training.seed,
                                      .planned_steps = planned,
                                      .momentum_at_server = training.momentum_at_server,
                                      .overlap = training.overlap,
                                      .compression = training.compression});
    if (training.start) training.start(toy);
    const Team team = protocol_facts(training.spec).team(cluster.rank(), cluster.size());
    Trained trained;
    for (std::int64_t step = 0; team.worker && step < training.steps; ++step) {
        const float loss =
            training.gradient ? training.gradient(toy) : toy.gradient(*team.worker, step);
        if (training.overlap) hand_over_in_slices(*protocol, {toy.weights, toy.gradients});
        if (training.turns != nullptr) training.turns->begin();
        trained.records.push_back(protocol->exchange({toy.weights, toy.gradients}, loss));
        if (training.turns != nullptr) training.turns->end();
        if (training.seen) training.seen(toy, step);
    }
    if (training.turns != nullptr && team.worker) training.turns->begin();
    protocol->finish({toy.weights, toy.gradients});
    if (training.turns != nullptr) training.turns->end();
    trained.weights = toy.weights;
    trained.version = protocol->version();
    return trained;
}

std::vector<float> train_alone(const Training& training, std::int64_t worker) {
    Toy toy(training.n);
    Sgd sgd(training.n, training.sgd);
    sgd.set_learning_rate(training.rate);
    for (std::int64_t step = 0; step < training.steps; ++step) {
        toy.gradient(worker, step);
        const auto update = sgd.update(toy.gradients, toy.weights);
        for (std::size_t i = 0; i < training.n; ++i) toy.weights[i] += update[i];
    }
    return toy.weights;
}

Training with_ones(const std::string& spec, std::int64_t steps) {
    return {.spec = spec,
            .rate = 0x1p-6F,
            .steps = steps,
            .n = several_shards,
            .gradient = [](Toy& toy) {
                std::ranges::fill(toy.gradients, 1.0F);
                return 0.0F;
            }};
}

std::vector<float> start_less(double steps) {
    Toy toy(several_shards);
    for (float& x : toy.weights) x -= static_cast<float>(steps) * 0x1p-6F;
    return toy.weights;
}

double sum(Cluster& cluster, double mine) {
    cluster.sum({&mine, 1});
    return mine;
}

double pushes(Cluster& cluster, const Trained& trained) {
    return sum(cluster,
               static_cast<double>(std::ranges::count(trained.records, true, &Exchange::pushed)));
}

std::map<std::int64_t, std::int64_t> staleness_histogram(Cluster& cluster, const Trained& trained) {
    std::vector<double> counts(4096);
    for (const Exchange& record : trained.records)
        if (record.pushed) counts.at(static_cast<std::size_t>(record.staleness)) += 1;
    cluster.sum(counts);
    std::map<std::int64_t, std::int64_t> histogram;
    for (std::size_t s = 0; s < counts.size(); ++s)
        if (counts[s] > 0)
            histogram[static_cast<std::int64_t>(s)] = static_cast<std::int64_t>(counts[s]);
    return histogram;
}

std::vector<float> all_gather(Cluster& cluster, std::span<const float> mine) {
    std::vector<float> all(mine.size() * static_cast<std::size_t>(cluster.size()));
    std::ranges::copy(mine,
                      all.begin() + static_cast<std::ptrdiff_t>(mine.size()) * cluster.rank());
    cluster.sum(all);
    return all;
}

void check_near(std::span<const float> got, std::span<const float> expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], expected[i], 1e-6) << "weight " << i;
}

}  // namespace wasp::test
