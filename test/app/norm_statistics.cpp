// --bn-stats: running statistics on ranks, of a model that only has those.
#include "../../src/app/norm_statistics.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "support/on_ranks.hpp"

namespace wasp {
namespace {

/// Its state is one number: what a batch would make of it is the first label.
class Statistics final : public Model {
public:
    Score train_step(const ImageBatch& /*batch*/) override { return {}; }
    Score evaluate(const ImageBatch& /*batch*/, std::span<float> /*logits*/) override { return {}; }
    void observe(const ImageBatch& batch, double weight) override {
        const auto value = static_cast<float>(batch.labels[0]);
        state_[0] += static_cast<float>(weight) * (value - state_[0]);
        images += batch.size();
    }
    std::span<float> weights() override { return {}; }
    std::span<float> gradients() override { return {}; }
    std::span<float> state() override { return state_; }
    const std::vector<ParameterView>& parameters() const override { return state_views(); }
    const std::string& name() const override { return name_; }
    ImageShape image_shape() const override { return {}; }
    int classes() const override { return 10; }
    double flops_per_image() const override { return 0; }

    std::size_t images = 0;

private:
    std::string name_ = "statistics";
    std::vector<float> state_ = {0};
};

/// A run on `cluster` with `servers` ranks that don't train; image i has the label i % 10.
struct Setting {
    Setting(Cluster& cluster, NormPolicy policy, bool shared, int servers = 0)
        : labels(600), pixels(600) {
        for (std::size_t i = 0; i < labels.size(); ++i)
            labels[i] = static_cast<std::uint16_t>(i % 10);
        dataset.classes = 10;
        dataset.train = {pixels, labels, 1};
        dataset.scale = dataset.shift = {1};
        holdout.train.resize(labels.size());
        std::iota(holdout.train.begin(), holdout.train.end(), 0U);
        config.batch = 6;
        config.norm = policy;
        facts.shares_weights = shared;
        facts.servers = servers;
        team = facts.team(cluster.rank(), cluster.size());
        model.state()[0] = static_cast<float>(10 * cluster.rank());
        control.emplace(cluster, team.workers);
        restorable.emplace(cluster);
        run.emplace(Run{*restorable, config, facts, team, dataset, holdout, model, *control});
    }

    std::vector<std::uint16_t> labels;
    std::vector<std::byte> pixels;
    Dataset dataset;
    Holdout holdout;
    TrainConfig config;
    ProtocolFacts facts;
    Team team;
    Statistics model;
    std::optional<RestorableCluster> restorable;
    std::optional<RunControl> control;
    std::optional<Run> run;
};

TEST(RanksNormStatistics, TheMeanOfAllWorkersIsEvaluatedAndTrainingGoesOnWithItsOwn) {
    test::on_ranks({1, 2, 4}, [](Cluster& cluster) {
        for (const int servers : {0, 1}) {
            if (servers == cluster.size()) continue;
            Setting setting(cluster, NormPolicy::average, true, servers);
            NormStatistics statistics(*setting.run);
            auto& state = setting.model.state()[0];
            const float mine = state;
            const float mean = static_cast<float>(10 * (servers + cluster.size() - 1)) / 2;
            if (setting.team.worker) statistics.publish(1);
            cluster.barrier();
            if (setting.run->is_first_worker()) {
                statistics.settle();
                EXPECT_FLOAT_EQ(state, mean);
                statistics.restore();
                EXPECT_EQ(state, mine);
            }
            cluster.barrier();
            statistics.finish();
            EXPECT_FLOAT_EQ(state, mean) << "on servers too";
        }
    });
}

TEST(RanksNormStatistics, ThoseThatPublishedNothingDoNotCount) {
    test::on_ranks({2, 4}, [](Cluster& cluster) {
        Setting setting(cluster, NormPolicy::average, true);
        NormStatistics statistics(*setting.run);
        if (cluster.rank() == 1) statistics.publish(1);
        cluster.barrier();
        if (cluster.rank() == 0) {
            statistics.settle_copy();
            EXPECT_FLOAT_EQ(setting.model.state()[0], 5) << "of ranks 0 and 1";
        }
        cluster.barrier();
    });
}

TEST(RanksNormStatistics, LocalOnesStayAndASharedModelTakesTheFirstWorkers) {
    test::on_ranks({1, 2, 4}, [](Cluster& cluster) {
        for (const bool shared : {true, false}) {
            Setting setting(cluster, NormPolicy::local, shared);
            NormStatistics statistics(*setting.run);
            auto& state = setting.model.state()[0];
            const float mine = state;
            statistics.publish(1);
            statistics.settle();
            EXPECT_EQ(state, mine);
            statistics.finish();
            statistics.estimate_shared();
            EXPECT_EQ(state, shared ? 0 : mine);
        }
    });
}

TEST(RanksNormStatistics, EstimatesAreTheMeanOverTrainingImages) {
    test::on_ranks({1, 2, 4}, [](Cluster& cluster) {
        for (const bool shared : {true, false}) {
            Setting setting(cluster, NormPolicy::reestimate, shared);
            NormStatistics statistics(*setting.run);
            auto& state = setting.model.state()[0];
            const float mine = state;
            statistics.settle();
            EXPECT_FLOAT_EQ(state, 4) << "first labels of batches: 0, 6, 2, 8, 4, …";
            EXPECT_EQ(setting.model.images, 600U);
            statistics.restore();
            EXPECT_EQ(state, mine);
            setting.model.images = 0;
            statistics.estimate_shared();
            EXPECT_NEAR(state, 4, 1e-5);
            EXPECT_EQ(setting.model.images, 600U / static_cast<unsigned>(cluster.size()))
                << "the ranks share them out";
        }
    });
}

}  // namespace
}  // namespace wasp
