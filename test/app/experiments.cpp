// Runs made again in their recorded order, and workers that are slowed down on purpose.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numeric>

#include "report/model_file.hpp"
#include "report/results_file.hpp"
#include "support/wasp_program.hpp"

namespace wasp::test {
namespace {

std::vector<float> weights_in(const std::filesystem::path& model) {
    std::vector<float> weights;
    for (const auto& tensor : read_model_file(model).tensors)
        weights.insert(weights.end(), tensor.values.begin(), tensor.values.end());
    return weights;
}

class Replay : public testing::Test {
protected:
    /// The weights that such a run ends with.   start: "threads:N", or "mpi:N".
    std::vector<float> train(const std::string& start, const std::string& protocol,
                             const Words& more) {
        const auto model = scratch_ / "model.h5";
        std::filesystem::remove(model);
        const auto words =
            short_training(scratch_ / "r.h5", Words{"--unique", "--protocol", protocol, "--epochs",
                                                    "2", "--save-model", model.string()} +
                                                  more);
        const bool threads = start.starts_with("threads");
        const auto outcome =
            threads ? run_wasp(words + Words{"--cluster", start})
                    : run_command(mpi_words(std::stoi(start.substr(start.find(':') + 1)), words));
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return outcome.code == 0 ? weights_in(model) : std::vector<float>{};
    }

    std::vector<float> record(const std::string& start, const std::string& protocol) {
        std::filesystem::remove(schedule_);
        return train(start, protocol, {"--record-schedule", schedule_.string()});
    }

    const Scratch scratch_;
    const std::filesystem::path schedule_ = scratch_ / "schedule.txt";
};

TEST_F(Replay, GivesTheBitsOfTheRecordedRun) {
    for (const char* protocol :
         {"asp", "ssp:S=1", "wasp:period=3", "wasp:period=3,trigger=versions", "wasp:servers=1",
          "downpour:n_push=2,n_fetch=3", "softsync:n=2", "backup", "dcasgd", "gapaware",
          "localsgd:H=3", "easgd:tau=2", "nosync:groups=2,inner=asp,tau=2", "nosync:tau=2,p=0.3",
          "dpsgd", "adpsgd", "sgp", "lsgd:tau=2"}) {
        const auto recorded = record("threads:4", protocol);
        ASSERT_FALSE(recorded.empty()) << protocol;
        EXPECT_EQ(train("threads:4", protocol, {"--replay", schedule_.string()}), recorded)
            << protocol;
    }
}

TEST_F(Replay, TwentyTimesOutOfTwenty) {
    const auto recorded = record("threads:4", "wasp:period=5");
    for (int again = 0; again < 20; ++again)
        EXPECT_EQ(train("threads:4", "wasp:period=5", {"--replay", schedule_.string()}), recorded);
}

TEST_F(Replay, OnMpiAsOnThreadsAndBack) {
    const auto on_threads = record("threads:3", "wasp:period=5");
    EXPECT_EQ(train("mpi:3", "wasp:period=5", {"--replay", schedule_.string()}), on_threads);
    const auto on_mpi = record("mpi:3", "asp");
    EXPECT_EQ(train("threads:3", "asp", {"--replay", schedule_.string()}), on_mpi);
}

// A schedule of the learning rate follows the shared version, which replay repeats.
TEST_F(Replay, WithAScheduleOfTheLearningRateAndServerMomentum) {
    const Words more{"--lr-schedule", "cosine", "--momentum-at", "server"};
    const auto recorded =
        train("threads:4", "asp", more + Words{"--record-schedule", schedule_.string()});
    EXPECT_EQ(train("threads:4", "asp", more + Words{"--replay", schedule_.string()}), recorded);
}

TEST_F(Replay, OtherRunsAndBrokenFilesAreRefused) {
    record("threads:2", "asp");
    const auto refused = [&](const Words& more, const std::string& message) {
        EXPECT_EQ(not_refused(run_wasp(short_training(scratch_ / "refused.h5", more)), 2, message),
                  "");
    };
    const Words replay{"--epochs", "1", "--replay", schedule_.string()};
    refused(replay + Words{"--protocol", "ssp", "--cluster", "threads:2"}, "is of --protocol asp");
    refused(replay + Words{"--protocol", "asp", "--cluster", "threads:3"}, "is of 2 ranks, not 3");
    refused(replay + Words{"--record-schedule", (scratch_ / "x").string()}, "contradict");
    const Words same{"--protocol", "asp", "--cluster", "threads:2"};
    refused(same + Words{"--updates", "8", "--replay", schedule_.string()}, "not --updates 8");
    std::ifstream file(schedule_);
    const std::string whole(std::istreambuf_iterator<char>(file), {});
    const auto turns = whole.find("turns "), steps = whole.find("steps "), end = whole.find("end ");
    const auto with = [&](std::size_t place, const std::string& more) {
        return whole.substr(0, place) + more + whole.substr(place);
    };
    auto other = whole;
    other[turns + 6] = other[turns + 6] == '0' ? '1' : '0';
    for (const auto& text :
         {whole.substr(0, end), whole.substr(0, whole.size() - 20),
          whole.substr(0, whole.size() - 1), whole + whole, with(end, "turns 0 1\n"), other,
          whole + "turns 0\n", with(steps + 6, "9")}) {
        std::ofstream(schedule_, std::ios::trunc) << text;
        refused(replay + same, "cut off or changed");
    }
    std::ofstream(schedule_, std::ios::trunc) << "something else\n";
    refused(replay + same, "no schedule");
}

Results straggling(const std::string& spec, const std::string& protocol) {
    const Scratch scratch;
    const auto out = scratch / "r.h5";
    const auto outcome =
        run_wasp(short_training(out, {"--protocol", protocol, "--epochs", "4", "--cluster",
                                      "threads:3", "--straggler", spec}));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return read_results(out);
}

TEST(Straggler, HoldsUpWhomItNamesOnly) {
    const auto results = straggling("rank=1,slow=4", "asp");
    ASSERT_EQ(results.ranks.size(), 3U);
    for (std::size_t rank = 0; rank < 3; ++rank) {
        const RankRow& row = results.ranks[rank];
        EXPECT_EQ(row.held_up > 0, rank == 1) << rank;
        EXPECT_LE(row.held_up, row.compute);
    }
    EXPECT_EQ(std::get<std::string>(results.config.at("straggler")), "rank=1,slow=4");
}

TEST(Straggler, RandomOnesAreSomeStepsOfAll) {
    const auto results = straggling("random,probability=0.3,slow=3,seed=2", "bsp");
    for (const RankRow& row : results.ranks) {
        EXPECT_GT(row.held_up, 0);
        EXPECT_LE(row.held_up, row.compute);
    }
}

TEST(Straggler, WrongOnesAreRefused) {
    const Scratch scratch;
    for (const auto& [spec, message] : {std::pair{"rank=1", "needs slow=FACTOR"},
                                        {"slow=2", "needs rank=R or node=N"},
                                        {"rank=1,node=1,slow=2", "needs rank=R or node=N"},
                                        {"random,slow=2", "needs probability"},
                                        {"rank=1,slow=0.5", "slow='0.5'"},
                                        {"rank=1,slow=2,form=3", "did you mean 'from'"},
                                        {"random,probability=2,slow=2", "probability='2'"},
                                        {"nobody", "straggler:nobody"}})
        EXPECT_EQ(not_refused(run_wasp(short_training(scratch / "r.h5",
                                                      {"--epochs", "1", "--straggler", spec})),
                              2, message),
                  "")
            << spec;
}

TEST(MomentumAt, ServerNeedsSharedWeights) {
    const Scratch scratch;
    const auto out = scratch / "r.h5";
    for (const char* protocol : {"nosync", "localsgd"})
        EXPECT_EQ(not_refused(run_wasp(short_training(out, {"--epochs", "1", "--protocol", protocol,
                                                            "--momentum-at", "server"})),
                              2, "has no server"),
                  "");
    EXPECT_EQ(run_wasp(short_training(out, {"--epochs", "1", "--protocol", "wasp", "--momentum-at",
                                            "server", "--cluster", "threads:2"}))
                  .code,
              0);
}

TEST(RateScale, MultipliesTheLearningRate) {
    const Scratch scratch;
    for (const auto& [scale, factor] :
         {std::pair{"none", 1.0}, {"mean", 0.25}, {"sqrt", 2.0}, {"linear", 4.0}}) {
        const auto out = scratch / (std::string(scale) + ".h5");
        const auto outcome =
            run_wasp(short_training(out, {"--epochs", "1", "--lr", "0.002", "--protocol", "bsp",
                                          "--cluster", "threads:4", "--lr-scale", scale}));
        ASSERT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_NEAR(read_results(out).curve.back().learning_rate, 0.002 * factor, 1e-8) << scale;
    }
}

}  // namespace
}  // namespace wasp::test
