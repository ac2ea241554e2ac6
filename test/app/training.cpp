// Whole runs of the program: every protocol on threads and under mpiexec, and what they leave.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <functional>
#include <numeric>
#include <sstream>
#include <utility>

#include "protocols/protocol.hpp"
#include "report/model_file.hpp"
#include "report/results_file.hpp"
#include "support/wasp_program.hpp"

namespace wasp::test {
namespace {

constexpr int train_images = 600;

/// The names in `wasp help protocols`, each of which begins a line.
Words protocol_names() {
    std::istringstream help(run_wasp({"help", "protocols"}).out);
    Words names;
    for (std::string line; std::getline(help, line);)
        if (const auto end = line.find("  "); end != 0 && end != std::string::npos)
            names.push_back(line.substr(0, end));
    return names;
}

/// What check_results.py finds wrong.
std::string wrong_in(const std::filesystem::path& results, int ranks, int workers, int samples,
                     double least_accuracy) {
    const auto outcome = run_command({options.python, "test/app/check_results.py", results.string(),
                                      std::to_string(ranks), std::to_string(workers),
                                      std::to_string(samples), std::to_string(least_accuracy)});
    return outcome.code == 0 ? "" : results.filename().string() + ": " + outcome.err;
}

/// Of all workers, in one epoch. Where each has its own model, 1/20 of the images are held out.
int images_per_epoch(const ProtocolFacts& facts, int workers) {
    const int images = facts.shares_weights ? train_images : train_images * 19 / 20;
    const int models = facts.groups > 0 ? facts.groups : workers;
    return facts.full_shards ? models * images : images;
}

/// With periods that suit short runs.
std::string short_spec(const std::string& name) {
    if (name == "localsgd" || name == "slowmo" || name == "bmuf") return name + ":H=4";
    if (name == "easgd") return "easgd:tau=2";
    return name == "eamsgd" ? "eamsgd:tau=2,mu=0.9" : name;
}

std::vector<std::string> specs_for(int ranks) {
    std::vector<std::string> specs;
    for (const auto& name : protocol_names())
        if (name != "serial" || ranks == 1) specs.push_back(short_spec(name));
    if (ranks > 1)
        for (const char* spec :
             {"wasp:weight=mean,period=7,trigger=versions", "asp:scale=mean,servers=1",
              "nosync:init=different,exchange=sendrecv", "nosync:groups=2,inner=wasp"})
            specs.emplace_back(spec);
    return specs;
}

/// Train with each protocol on `ranks` ranks, started by `start`, and check what comes out.
void train_with_every_protocol(int ranks, const std::function<Words(const Words&)>& start) {
    constexpr int epochs = 8;
    constexpr double chance = 0.25;  // four classes
    const Scratch scratch;
    int number = 0;
    for (const auto& spec : specs_for(ranks)) {
        const auto facts = protocol_facts(spec);
        const int workers = ranks - facts.servers;
        const auto out = scratch / ("run" + std::to_string(number++) + ".h5");
        const auto outcome = run_command(start(short_training(
            out, {"--protocol", spec, "--epochs", std::to_string(epochs), "--lr", "0.01"})));
        ASSERT_EQ(outcome.code, 0) << spec << " on " << ranks << " ranks: " << outcome.err;
        EXPECT_EQ(outcome.err, "") << spec;
        EXPECT_NE(outcome.out.find("RESULT status=finished"), std::string::npos) << outcome.out;
        const int samples = epochs * images_per_epoch(facts, workers);
        EXPECT_EQ(wrong_in(out, ranks, workers, samples, 2 * chance), "")
            << spec << " on " << ranks << " ranks";
    }
}

TEST(Training, EveryProtocolIsListed) {
    const auto names = protocol_names();
    for (const char* name : {"serial", "bsp", "asp", "ssp", "wasp", "nosync", "localsgd", "sgp"})
        EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
}

TEST(Training, EveryProtocolOnThreads) {
    for (const int ranks : {1, 4})
        train_with_every_protocol(ranks, [ranks](const Words& words) {
            return wasp_words(words + Words{"--cluster", "threads:" + std::to_string(ranks)});
        });
}

TEST(Training, EveryProtocolUnderMpi) {
    for (const int ranks : {4})
        train_with_every_protocol(ranks,
                                  [ranks](const Words& words) { return mpi_words(ranks, words); });
}

TEST(Training, ResNetsWithEveryKindOfRunningStatistics) {
    const Scratch scratch;
    std::size_t number = 0;
    for (const char* protocol : {"bsp", "wasp:period=5", "nosync"})
        for (const char* policy : {"average", "local", "reestimate"}) {
            const std::array evaluations{"deferred", "inline", "none"};  // a Latin square
            const char* evaluation = evaluations[(number + number / 3) % 3];
            SCOPED_TRACE(testing::Message() << protocol << " " << policy << " " << evaluation);
            const auto name = std::to_string(number++);
            const auto out = scratch / (name + ".h5"), model = scratch / (name + "m.h5");
            const auto outcome = run_wasp(short_training(
                out, {"--cluster", "threads:2", "--protocol", protocol, "--model", "resnet20",
                      "--updates", "16", "--eval-every", "8updates", "--augment", "crop-flip",
                      "--bn-stats", policy, "--eval", evaluation, "--save-model", model.string()}));
            ASSERT_EQ(outcome.code, 0) << outcome.err;
            const auto file = read_model_file(model);
            const auto variance =
                std::ranges::find(file.tensors, "layer3.2.bn2.running_var", &NamedTensor::name);
            ASSERT_NE(variance, file.tensors.end());
            // 1 at the start; what 8 steps leave of it is 0.43, an estimate nothing.
            const double mean = std::reduce(variance->values.begin(), variance->values.end()) /
                                static_cast<double>(variance->values.size());
            EXPECT_GT(mean, 0);
            EXPECT_NE(mean, 1);
            if (std::string(policy) == "reestimate") {
                EXPECT_LT(mean, 0.43);
            } else {
                EXPECT_GT(mean, 0.43);
            }
        }
}

TEST(Training, TheSameSeedGivesTheSameBitsAndAnotherOneDoesNot) {
    const Scratch scratch;
    const auto weights_after = [&](const std::string& protocol, const std::string& ranks,
                                   const std::string& seed) {
        const auto model = scratch / "model.h5";
        std::filesystem::remove(model);
        const auto outcome = run_wasp(short_training(
            scratch / "r.h5", {"--unique", "--protocol", protocol, "--cluster", "threads:" + ranks,
                               "--epochs", "2", "--seed", seed, "--save-model", model.string()}));
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        std::vector<float> weights;
        for (const auto& tensor : read_model_file(model).tensors)
            weights.insert(weights.end(), tensor.values.begin(), tensor.values.end());
        return weights;
    };
    for (const auto& [protocol, ranks] : {std::pair{"serial", "1"}, {"bsp", "3"}}) {
        const auto first = weights_after(protocol, ranks, "7");
        EXPECT_EQ(first, weights_after(protocol, ranks, "7")) << protocol;
        EXPECT_NE(first, weights_after(protocol, ranks, "8")) << protocol;
    }
    // Every protocol with shared weights is plain SGD on one rank.
    const auto serial = weights_after("serial", "1", "7");
    for (const char* protocol : {"bsp", "asp", "ssp", "wasp"})
        EXPECT_EQ(serial, weights_after(protocol, "1", "7")) << protocol;
}

TEST(Training, TheStoredConfigurationMakesTheRunAgain) {
    const Scratch scratch;
    const auto first = scratch / "first.h5", second = scratch / "second.h5";
    const auto outcome = run_wasp(short_training(first, {"--protocol",
                                                         "serial",
                                                         "--samples",
                                                         "1000",
                                                         "--lr",
                                                         "0.03",
                                                         "--lr-schedule",
                                                         "cosine:floor=0.001",
                                                         "--warmup",
                                                         "0.5",
                                                         "--nesterov",
                                                         "--weight-decay",
                                                         "1e-4",
                                                         "--validation",
                                                         "50",
                                                         "--order",
                                                         "sequential",
                                                         "--model",
                                                         "mlp",
                                                         "--threads",
                                                         "1"}));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto results = read_results(first);
    std::ofstream(scratch / "again.toml") << std::get<std::string>(results.config.at("toml"));
    const auto again = run_wasp(
        {"train", "--config", (scratch / "again.toml").string(), "--out", second.string()});
    ASSERT_EQ(again.code, 0) << again.err;
    const auto repeated = read_results(second);
    ASSERT_EQ(results.curve.size(), repeated.curve.size());
    EXPECT_EQ(results.curve.back().test_loss, repeated.curve.back().test_loss);
    EXPECT_EQ(results.curve.back().samples, 550 + 29 * 16);  // an epoch, and whole mini-batches
    auto differences = repeated.config;
    for (const auto& [name, value] : results.config)
        if (differences[name] == value) differences.erase(name);
    Words names;
    for (const auto& [name, value] : differences) names.push_back(name);
    EXPECT_EQ(names, (Words{"command_line", "out", "toml"}));
}

TEST(Training, InlineAndDeferredEvaluationSeeTheSameCurve) {
    const Scratch scratch;
    const auto curve = [&](const std::string& evaluation) {
        const auto out = scratch / (evaluation + ".h5");
        const auto outcome =
            run_wasp(short_training(out, {"--protocol", "serial", "--epochs", "2", "--eval-every",
                                          "0.5epochs", "--eval", evaluation}));
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        const auto results = read_results(out);
        EXPECT_GT(std::get<double>(results.summary.at("evaluation_seconds")), 0);
        return results.curve;
    };
    const auto deferred = curve("deferred"), immediate = curve("inline");
    ASSERT_EQ(deferred.size(), 4U);
    ASSERT_EQ(immediate.size(), 4U);
    for (std::size_t i = 0; i < deferred.size(); ++i) {
        EXPECT_EQ(deferred[i].test_loss, immediate[i].test_loss) << i;
        EXPECT_EQ(deferred[i].samples, immediate[i].samples) << i;
        EXPECT_EQ(deferred[i].train_loss, immediate[i].train_loss) << i;
    }
}

// 170 copies of 1.7 MB: more than is kept in memory.
TEST(Training, CopiesThatMemoryDoesNotHoldGoToDisk) {
    const Scratch scratch;
    const auto data = scratch / "data.h5";
    ASSERT_EQ(
        run_wasp({"data", "synth", "--train", "40", "--test", "10", "--out", data.string()}).code,
        0);
    const auto train = [&](const std::string& evaluation) {
        const auto out = scratch / (evaluation + ".h5");
        const auto outcome = run_wasp({"train",      "--data",       data.string(),  "--out",
                                       out.string(), "--model",      "lenet5-caffe", "--protocol",
                                       "serial",     "--cluster",    "threads:1",    "--batch",
                                       "4",          "--lr",         "0.001",        "--updates",
                                       "170",        "--eval-every", "1updates",     "--eval",
                                       evaluation});
        EXPECT_EQ(outcome.code, 0);
        return std::pair(read_results(out).curve, outcome.err);
    };
    const auto [deferred, note] = train("deferred");
    const auto [immediate, nothing] = train("inline");
    EXPECT_NE(note.find("further ones go to a temporary file in"), std::string::npos) << note;
    EXPECT_EQ(nothing, "");
    ASSERT_EQ(deferred.size(), 170U);
    ASSERT_EQ(immediate.size(), 170U);
    for (std::size_t i = 0; i < deferred.size(); ++i)
        EXPECT_EQ(deferred[i].test_loss, immediate[i].test_loss) << i;
    EXPECT_EQ(scratch.names(), (Words{"data.h5", "deferred.h5", "inline.h5"}));
}

TEST(Training, EverybodyPausesWhileOneEvaluates) {
    const Scratch scratch;
    for (const std::string protocol : {"bsp", "asp", "nosync"}) {
        const auto out = scratch / (protocol + ".h5");
        const auto outcome = run_wasp(
            short_training(out, {"--protocol", protocol, "--epochs", "4", "--eval", "inline",
                                 "--cluster", "threads:4", "--eval-every", "2updates"}));
        ASSERT_EQ(outcome.code, 0) << outcome.err;
        const auto results = read_results(out);
        EXPECT_GT(results.curve.size(), 5U) << protocol;
        const auto seconds = [&](const char* part) {
            return std::get<double>(results.summary.at(part));
        };
        // Else the evaluations would be part of what those who wait for them do; ranks do not end
        // at the same moment.
        for (const auto& rank : results.ranks)
            EXPECT_LE(rank.compute + rank.wait + rank.pull + rank.push + rank.data,
                      seconds("training_seconds") + seconds("evaluation_seconds") / 2)
                << protocol;
    }
}

TEST(Training, StopsAtItsTarget) {
    const Scratch scratch;
    for (const std::string cluster : {"threads:1", "threads:3"}) {
        const auto out = scratch / (cluster + ".h5");
        const auto outcome = run_wasp(
            short_training(out, {"--protocol", "ssp", "--epochs", "1000", "--lr", "0.02",
                                 "--target-accuracy", "0.6", "--stop-at-target", "--eval", "inline",
                                 "--eval-every", "10updates", "--cluster", cluster}));
        ASSERT_EQ(outcome.code, 0) << outcome.err;
        const auto results = read_results(out);
        EXPECT_EQ(results.status, "finished");
        EXPECT_EQ(results.summary.at("reached"), Attribute(true));
        EXPECT_LT(results.curve.back().epoch, 100) << "it did not stop";
        EXPECT_LE(std::get<double>(results.summary.at("time_to_accuracy")),
                  results.curve.back().seconds);
    }
}

TEST(Training, UpdatesAndSamplesAreThoseOfAllWorkers) {
    const Scratch scratch;
    const auto out = scratch / "r.h5";
    const auto count = [&](const Words& length) {
        std::filesystem::remove(out);
        const auto outcome = run_wasp(
            short_training(out, Words{"--protocol", "asp", "--cluster", "threads:4"} + length));
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return read_results(out).summary;
    };
    EXPECT_EQ(count({"--updates", "40"}).at("updates"), Attribute(std::int64_t{40}));
    // Each worker its shard of 150 images once, and a mini-batch of the next epoch.
    EXPECT_EQ(count({"--samples", "640"}).at("samples"), Attribute(std::int64_t{4 * (150 + 16)}));
}

TEST(Training, NoSyncChoosesByValidationLoss) {
    const Scratch scratch;
    const auto out = scratch / "r.h5", model = scratch / "m.h5";
    const auto outcome = run_wasp(
        short_training(out, {"--protocol", "nosync:init=different", "--cluster", "threads:3",
                             "--epochs", "4", "--save-model", model.string()}));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto results = read_results(out);
    Words names;
    for (const auto& row : results.models) names.push_back(row.name);
    EXPECT_EQ(names, (Words{"rank 0", "rank 1", "rank 2", "best", "mean", "ensemble"}));
    const auto row = [&](const std::string& name) {
        return *std::ranges::find(results.models, name, &ModelRow::name);
    };
    const double least = std::min({row("rank 0").validation_loss, row("rank 1").validation_loss,
                                   row("rank 2").validation_loss});
    EXPECT_EQ(row("best").validation_loss, least);
    EXPECT_GT(row("ensemble").test_accuracy, 0.5);
    const auto chosen = std::get<std::string>(results.summary.at("chosen_model"));
    EXPECT_EQ(chosen, row("mean").validation_loss < least ? "mean" : "best");

    // The saved model is the chosen one.
    const auto evaluated =
        run_wasp({"eval", "--model-file", model.string(), "--data", small_data().string()});
    ASSERT_EQ(evaluated.code, 0) << evaluated.err;
    std::ostringstream accuracy;
    accuracy.setf(std::ios::fixed);
    accuracy.precision(2);
    accuracy << "accuracy " << 100 * row(chosen).test_accuracy << " %";
    EXPECT_NE(evaluated.out.find(accuracy.str()), std::string::npos) << evaluated.out;
}

TEST(Training, GoesOnFromASavedModel) {
    const Scratch scratch;
    const auto model = scratch / "m.h5";
    const auto first =
        run_wasp(short_training(scratch / "a.h5", {"--protocol", "serial", "--epochs", "6", "--lr",
                                                   "0.02", "--save-model", model.string()}));
    ASSERT_EQ(first.code, 0) << first.err;
    const auto second = run_wasp(short_training(
        scratch / "b.h5", {"--protocol", "bsp", "--cluster", "threads:2", "--updates", "2", "--lr",
                           "0", "--init", model.string()}));
    ASSERT_EQ(second.code, 0) << second.err;
    const auto before = read_results(scratch / "a.h5").curve.back();
    const auto after = read_results(scratch / "b.h5").curve.back();
    EXPECT_EQ(before.test_accuracy, after.test_accuracy);

    const auto other =
        run_wasp(short_training(scratch / "c.h5", {"--model", "mlp", "--epochs", "1", "--cluster",
                                                   "threads:1", "--init", model.string()}));
    EXPECT_EQ(not_refused(other, 2, "holds a model 'lenet5', not 'mlp'"), "");
}

TEST(Training, MoreWorkersThanImagesEnd) {
    const Scratch scratch;
    const auto data = scratch / "three.h5", out = scratch / "r.h5";
    ASSERT_EQ(run_wasp({"data", "synth", "--classes", "2", "--shape", "1,16,16", "--train", "3",
                        "--test", "2", "--out", data.string()})
                  .code,
              0);
    for (const auto& name : protocol_names()) {
        // Own models need validation images.
        if (name == "serial" || !protocol_facts(name).shares_weights) continue;
        const auto outcome =
            run_wasp({"train", "--data", data.string(), "--protocol", name, "--epochs", "2",
                      "--unique", "--out", out.string(), "--cluster", "threads:4"});
        EXPECT_EQ(outcome.code, 0) << name << ": " << outcome.err;
    }
}

TEST(Training, UniqueNumbersTheResults) {
    const Scratch scratch;
    const auto out = scratch / "r.h5";
    for (int i = 0; i < 3; ++i) {
        const auto outcome =
            run_wasp(short_training(out, {"--protocol", "serial", "--updates", "2", "--unique"}));
        ASSERT_EQ(outcome.code, 0) << outcome.err;
    }
    EXPECT_EQ(scratch.names(), (Words{"r-2.h5", "r-3.h5", "r.h5"}));
}

}  // namespace
}  // namespace wasp::test
