// What is written is what is read; foreign and damaged files are refused in one line.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "base/error.hpp"
#include "base/random.hpp"
#include "h5/atomic_file.hpp"
#include "h5/writer.hpp"
#include "report/model_file.hpp"
#include "report/results_file.hpp"
#include "report/tables.hpp"
#include "support/results.hpp"
#include "support/scratch.hpp"

namespace wasp {
namespace {

namespace fs = std::filesystem;

/// The message of the Error with exit code 2 that `action` throws.
template <class Action>
std::string refusal(Action action) {
    try {
        action();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage) << error.what();
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "was not refused";
    return "";
}

void expect_equal(const RankRow& a, const RankRow& b) {
    EXPECT_EQ(a.host, b.host);
    EXPECT_EQ(a.cpus, b.cpus);
    EXPECT_EQ(a.node, b.node);
    EXPECT_EQ(a.socket, b.socket);
    EXPECT_EQ(a.threads, b.threads);
    EXPECT_EQ(a.samples, b.samples);
    EXPECT_EQ(a.updates, b.updates);
    EXPECT_EQ(a.weight_sum, b.weight_sum);
    EXPECT_EQ(a.compute, b.compute);
    EXPECT_EQ(a.wait, b.wait);
    EXPECT_EQ(a.bytes, b.bytes);
    EXPECT_EQ(a.dropped, b.dropped);
    EXPECT_EQ(a.held_up, b.held_up);
    EXPECT_EQ(a.divergence_sum, b.divergence_sum);
    EXPECT_EQ(a.synchronisations, b.synchronisations);
    EXPECT_EQ(a.staleness, b.staleness);
    ASSERT_EQ(a.steps.size(), b.steps.size());
    for (std::size_t i = 0; i < a.steps.size(); ++i) {
        EXPECT_EQ(a.steps[i].seconds, b.steps[i].seconds);
        EXPECT_EQ(a.steps[i].loss, b.steps[i].loss);
        EXPECT_EQ(a.steps[i].weight, b.steps[i].weight);
        EXPECT_EQ(a.steps[i].version, b.steps[i].version);
        EXPECT_EQ(a.steps[i].staleness, b.steps[i].staleness);
        EXPECT_EQ(a.steps[i].wait, b.steps[i].wait);
    }
}

void expect_equal(const Results& a, const Results& b) {
    EXPECT_EQ(a.status, b.status);
    EXPECT_EQ(a.config, b.config);
    EXPECT_EQ(a.provenance, b.provenance);
    EXPECT_EQ(a.record_every, b.record_every);
    ASSERT_EQ(a.curve.size(), b.curve.size());
    for (std::size_t i = 0; i < a.curve.size(); ++i) {
        EXPECT_EQ(a.curve[i].seconds, b.curve[i].seconds);
        EXPECT_EQ(a.curve[i].version, b.curve[i].version);
        EXPECT_EQ(a.curve[i].test_accuracy, b.curve[i].test_accuracy);
        EXPECT_EQ(a.curve[i].learning_rate, b.curve[i].learning_rate);
    }
    ASSERT_EQ(a.ranks.size(), b.ranks.size());
    for (std::size_t i = 0; i < a.ranks.size(); ++i) expect_equal(a.ranks[i], b.ranks[i]);
    ASSERT_EQ(a.models.size(), b.models.size());
    for (std::size_t i = 0; i < a.models.size(); ++i) {
        EXPECT_EQ(a.models[i].name, b.models[i].name);
        EXPECT_EQ(a.models[i].validation_loss, b.models[i].validation_loss);
    }
}

TEST(ResultsReading, GivesBackWhatWasWritten) {
    const test::Scratch folder;
    auto results = test::example_results();
    results.record_every = 3;
    results.config["text"] = std::string("café ≥ 1, with = and \"quotes\"");
    results.config["vector"] = std::vector<double>{1, -0.5};
    results.config["large"] = std::numeric_limits<std::int64_t>::max();
    results.summary["nothing"] = std::string();
    ResultsFile file(folder / "run.h5", IfTaken::refuse);
    file.write(results);
    const auto read = read_results(file.path());
    expect_equal(read, results);
    EXPECT_EQ(std::get<std::string>(read.summary.at("nothing")), "");
    EXPECT_TRUE(std::isnan(std::get<double>(read.summary.at("time_to_accuracy"))));
}

TEST(ResultsReading, OfAFileThatWasJustClaimedGivesARunWithoutRows) {
    const test::Scratch folder;
    const ResultsFile file(folder / "run.h5", IfTaken::refuse);
    const auto read = read_results(file.path());
    EXPECT_EQ(read.status, "running");
    EXPECT_TRUE(read.curve.empty() && read.ranks.empty() && read.models.empty());
}

TEST(ResultsReading, TakesRunsThatAreLargeEnoughToBeCompressed) {
    const test::Scratch folder;
    auto results = test::example_results();
    results.ranks.assign(5, test::example_rank(0, 4001));
    results.ranks[3] = test::example_rank(3, 17);
    results.ranks[4].staleness.assign(30'000, 7);
    ResultsFile file(folder / "run.h5", IfTaken::refuse);
    file.write(results);
    auto read = read_results(file.path());
    for (auto& rank : results.ranks) rank.staleness.resize(30'000);
    expect_equal(read, results);
    EXPECT_TRUE(read_results(file.path(), false).ranks[0].steps.empty());
}

ModelFile example_model() {
    return {.model = "mlp",
            .channels = 2,
            .height = 3,
            .width = 4,
            .classes = 5,
            .scale = {0.5F, 0.25F},
            .shift = {-1, 0.125F},
            .tensors = {{"fc1.weight", {5, 24}, std::vector<float>(120, 0.1F)},
                        {"fc1.bias", {5}, {1, -2, 3e-38F, 4, 5}}}};
}

TEST(ModelFile, GivesBackWhatWasWritten) {
    const test::Scratch folder;
    write_model_file(folder / "model.h5", example_model());
    write_model_file(folder / "model.h5", example_model());  // replaces
    const auto read = read_model_file(folder / "model.h5");
    EXPECT_EQ(folder.names(), std::vector<std::string>{"model.h5"});
    EXPECT_EQ(read.model, "mlp");
    EXPECT_EQ((std::vector<int>{read.channels, read.height, read.width, read.classes}),
              (std::vector<int>{2, 3, 4, 5}));
    EXPECT_EQ(read.scale, example_model().scale);
    EXPECT_EQ(read.shift, example_model().shift);
    ASSERT_EQ(read.tensors.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(read.tensors[i].name, example_model().tensors[i].name);
        EXPECT_EQ(read.tensors[i].shape, example_model().tensors[i].shape);
        EXPECT_EQ(read.tensors[i].values, example_model().tensors[i].values);
    }
}

TEST(ModelFile, WithNanOrInfinityIsRefusedWithItsPlace) {
    const test::Scratch folder;
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        auto model = example_model();
        model.tensors[1].values[3] = bad;
        write_model_file(folder / "model.h5", model);
        const auto message = refusal([&] { read_model_file(folder / "model.h5"); });
        EXPECT_NE(message.find("fc1.bias"), std::string::npos) << message;
        EXPECT_NE(message.find("value 3"), std::string::npos) << message;
    }
}

TEST(OwnFiles, OfAnotherKindAreRefusedWithAHint) {
    const test::Scratch folder;
    const ResultsFile run(folder / "run.h5", IfTaken::refuse);
    write_model_file(folder / "model.h5", example_model());
    EXPECT_NE(refusal([&] { read_results(folder / "model.h5"); }).find("wasp model show"),
              std::string::npos);
    EXPECT_NE(refusal([&] { read_model_file(folder / "run.h5"); }).find("wasp results show"),
              std::string::npos);
}

TEST(OwnFiles, OfNewerProgramsAreRefused) {
    const test::Scratch folder;
    h5::Writer writer;
    writer.attribute("/", "program", "wasp");
    writer.attribute("/", "format_version", std::int64_t{99});
    h5::replace_file(folder / "run.h5", writer.finish());
    EXPECT_NE(refusal([&] { read_results(folder / "run.h5"); }).find("newer"), std::string::npos);
}

TEST(OwnFiles, ThatAreMissingForeignOrNotHdf5AreRefused) {
    const test::Scratch folder;
    std::ofstream(folder / "text.h5") << "seconds,accuracy\n";
    h5::replace_file(folder / "foreign.h5", h5::Writer().finish());
    for (const auto* name : {"missing.h5", "text.h5", "foreign.h5", "."}) {
        refusal([&] { read_results(folder / name); });
        refusal([&] { read_model_file(folder / name); });
    }
}

/// What a model file may not say, each made by one change of a sound one.
TEST(OwnFiles, WithAttributesThatLieAreRefused) {
    const test::Scratch folder;
    const auto write = [&](const std::string& tensors, std::int64_t channels) {
        h5::Writer writer;
        writer.attribute("/", "program", "wasp model");
        writer.attribute("/", "format_version", std::int64_t{1});
        writer.attribute("/", "model", "mlp");
        writer.attribute("/", "channels", channels);
        writer.attribute("/", "height", std::int64_t{1});
        writer.attribute("/", "width", std::int64_t{1});
        writer.attribute("/", "classes", std::int64_t{1});
        writer.attribute("/", "scale", std::vector<double>{1});
        writer.attribute("/", "shift", std::vector<double>{0});
        writer.dataset("/a", std::vector<float>{1}, {1});
        writer.group("/g");
        writer.attribute("/", "tensors", tensors);
        h5::replace_file(folder / "model.h5", writer.finish());
        return folder / "model.h5";
    };
    EXPECT_EQ(read_model_file(write("a", 1)).tensors.size(), 1U);
    for (const auto* tensors : {"a,a", "a,,a", "/a", "..", "b", "g", "a b"})
        refusal([&] { read_model_file(write(tensors, 1)); });
    for (const std::int64_t channels :
         {std::int64_t{0}, std::int64_t{-1}, std::int64_t{2}, std::int64_t{1} << 40})
        refusal([&] { read_model_file(write("a", channels)); });
}

/// Cut at any place or with any byte changed, a file is read as it was or refused: nothing crashes.
TEST(OwnFiles, DamagedAnywhereAreReadOrRefused) {
    const test::Scratch folder;
    ResultsFile run(folder / "run.h5", IfTaken::refuse);
    run.write(test::example_results());
    std::ifstream stream(run.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};

    RandomStream random(1, "damage");
    int refused = 0;
    for (int i = 0; i < 300; ++i) {
        std::string damaged = bytes;
        // Every other change is where the strings are: the library believes what stands there.
        const auto heap = bytes.find("GCOL");
        const std::size_t place =
            i % 2 == 0 ? random.below(bytes.size()) : heap + random.below(4096);
        if (i % 3 == 0)
            damaged.resize(place);
        else
            damaged[place] = static_cast<char>(damaged[place] ^ (1 << random.below(8)));
        std::ofstream(folder / "damaged.h5", std::ios::binary) << damaged;
        try {
            read_results(folder / "damaged.h5");
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::usage) << error.what();
            ++refused;
        }
    }
    EXPECT_GE(refused, 100);  // every cut, at least
}

}  // namespace
}  // namespace wasp
