// Results and models as text.
#include "report/tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/error.hpp"
#include "report/model_file.hpp"
#include "report/provenance.hpp"
#include "report/summary.hpp"
#include "support/options.hpp"
#include "support/output_of.hpp"
#include "support/results.hpp"
#include "support/scratch.hpp"

namespace wasp {
namespace {

using Paths = std::vector<std::filesystem::path>;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::filesystem::path written(const test::Scratch& folder, const std::string& name,
                              const Results& results) {
    ResultsFile file(folder / name, IfTaken::refuse);
    file.write(results);
    return file.path();
}

TEST(ShowResults, HasARowARunWithAlignedColumns) {
    const test::Scratch folder;
    auto results = test::example_results();
    results.summary = as_attributes(summarise(results, 4, 0.5));
    const Paths files{written(folder, "run.h5", results),
                      ResultsFile(folder / "new.h5", IfTaken::refuse).path()};
    const auto lines = lines_of(show_results(files).text);
    ASSERT_EQ(lines.size(), 3U);
    for (const auto* part :
         {"finished", "wasp:period=50", "2 x 2", " 75.00 ", " 50.00 ", " 2.0 ", " 28 "})
        EXPECT_NE(lines[1].find(part), std::string::npos) << part << '\n' << lines[1];
    EXPECT_NE(lines[2].find("running"), std::string::npos);
    EXPECT_NE(lines[2].find(" - "), std::string::npos) << "what is not known is a dash";
    EXPECT_EQ(lines[0].size(), lines[1].size());
    EXPECT_EQ(lines[0].size(), lines[2].size());
}

TEST(ResultsCsv, HasARowAnEvaluationAndIsReadByPythonsCsv) {
    const test::Scratch folder;
    auto results = test::example_results();
    results.config["protocol"] = std::string("wasp:period=50,weight=\"x\"");
    const Paths files{written(folder, "a, b.h5", results),
                      ResultsFile(folder / "new.h5", IfTaken::refuse).path()};
    const auto lines = lines_of(results_csv(files).text);
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(lines[0],
              "file,status,ranks,threads,model,protocol,data,batch,lr,seed,seconds,epoch,samples,"
              "version,train_loss,test_loss,test_accuracy,learning_rate");
    EXPECT_EQ(lines[2],
              "\"" + files[0].string() +
                  "\",finished,2,2,,\"wasp:period=50,weight=\"\"x\"\"\",,,0.0625,,4,2,112,"
                  "7,1,0.75,0.75,0.03125");
    EXPECT_EQ(std::ranges::count(lines[3], ','), std::ranges::count(lines[0], ','));
    {
        std::ofstream csv(folder / "all.csv");
        csv << results_csv(files).text;
    }
    EXPECT_EQ(
        test::output_of(test::options.python +
                        " -c \"import csv, sys; rows = list(csv.DictReader(open(sys.argv[1])));"
                        "print(len(rows), rows[1]['protocol'], rows[1]['test_accuracy'],"
                        "repr(rows[2]['epoch']))\" " +
                        (folder / "all.csv").string()),
        "3 wasp:period=50,weight=\"x\" 0.75 ''\n");
}

constexpr auto tables = {show_results, results_csv, merge_results};

TEST(ResultsTables, RefuseWhatDoesNotExist) {
    const test::Scratch folder;
    for (const auto& table : tables)
        for (const auto& path : {folder / "missing.h5", folder.path()}) {
            try {
                table(Paths{path});
                FAIL();
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ExitCode::usage);
                EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos);
            }
        }
}

/// A study's folder with a run of each fate, a model, a checkpoint's folder, and a file half
/// written.
void make_study(const test::Scratch& folder) {
    std::filesystem::create_directory(folder / "runs");
    std::filesystem::create_directory(folder / "finished.h5.ckpt");
    for (const auto* name : {"finished", "damaged", "missing, \"twice\""})
        std::ofstream(folder / "runs" / (std::string(name) + ".toml")) << "seed = 1\n";
    for (const auto* status : {"finished", "diverged", "failed", "stopped", "running"}) {
        auto results = test::example_results();
        results.status = status;
        results.config["seed"] = std::int64_t{7};
        written(folder, std::string(status) + ".h5", results);
    }
    std::filesystem::copy_file(folder / "finished.h5", folder / "damaged.h5");
    std::filesystem::resize_file(folder / "damaged.h5", 5000);
    std::ofstream(folder / ".half.h5.1.part") << "x";
    std::ofstream(folder / ".half.h5") << "x";
    write_model_file(folder / "model.h5",
                     {.model = "mlp", .scale = {1}, .shift = {0}, .tensors = {{"w", {1}, {1.0F}}}});
}

TEST(ResultsTables, ListEveryRunOfAStudyWhateverBecameOfIt) {
    const test::Scratch folder;
    make_study(folder);
    for (const auto& table : tables) {
        const auto all = table(Paths{folder.path()});
        EXPECT_FALSE(all.complete);
        for (const auto* file : {"finished.h5", "diverged.h5", "failed.h5", "stopped.h5",
                                 "running.h5", "damaged.h5", "missing, "})
            EXPECT_NE(all.text.find((folder / file).string()), std::string::npos) << file;
        for (const auto* file : {"half", "model.h5", "ckpt"})
            EXPECT_EQ(all.text.find((folder / file).string()), std::string::npos) << file;
        std::string said;
        for (const auto& remark : all.remarks) said += remark + '\n';
        for (const auto* part :
             {"failed: ", "stopped: ", "running: ", "damaged: ", "missing: ", "left out: "})
            EXPECT_NE(said.find(part), std::string::npos) << part << said;
        EXPECT_EQ(all.remarks.back(),
                  "7 runs: 1 damaged, 1 diverged, 1 failed, 1 finished, 1 missing, 1 running, 1 "
                  "stopped");
    }
}

TEST(ResultsTables, SayNothingBesidesWhenAllIsWell) {
    const test::Scratch folder;
    const Paths files{written(folder, "a.h5", test::example_results())};
    for (const auto& table : tables) {
        EXPECT_TRUE(table(files).complete);
        EXPECT_TRUE(table(files).remarks.empty());
    }
}

TEST(MergeResults, IsReadByPythonAndHoldsSummaryTimesAndOptions) {
    const test::Scratch folder;
    make_study(folder);
    std::ofstream(folder / "all.csv") << merge_results(Paths{folder.path()}).text;
    EXPECT_EQ(test::output_of(
                  test::options.python +
                  " -c \"import csv, sys; rows = list(csv.DictReader(open(sys.argv[1])));"
                  "by = {row['status']: row for row in rows}; f = by['finished'];"
                  "print(len(rows), None in f, f['protocol'], f['ranks'], f['seed'], f['samples'],"
                  "f['option_epochs'], f['wait_seconds'], f['final_accuracy'],"
                  "f['accuracy_of_shared'], f['nodes'], repr(f['target_accuracy']));"
                  "print('truncated' in by['damaged']['fault'], repr(by['missing']['seed']),"
                  "by['missing']['file'][-10:])\" " +
                  (folder / "all.csv").string()),
              "7 False wasp:period=50 2 7 112 2 0.375 0.75 0.75 2 ''\n"
              "True '' \"twice\".h5\n");
}

TEST(MergeResults, HasTheSameFirstColumnsForEveryStudy) {
    const test::Scratch folder;
    const Paths empty{ResultsFile(folder / "new.h5", IfTaken::refuse).path()};
    const Paths full{written(folder, "full.h5", test::example_results())};
    const auto few = lines_of(merge_results(empty).text).front();
    EXPECT_TRUE(lines_of(merge_results(full).text).front().starts_with(few)) << few;
    EXPECT_TRUE(
        few.starts_with("file,status,fault,ranks,threads,nodes,model,protocol,data,batch,"
                        "lr,seed,best_accuracy,"));
}

TEST(ShowModel, ListsTensorsShapesAndTheSum) {
    const test::Scratch folder;
    write_model_file(folder / "model.h5",
                     {.model = "mlp",
                      .channels = 1,
                      .height = 2,
                      .width = 3,
                      .classes = 4,
                      .scale = {0.5F},
                      .shift = {-1},
                      .tensors = {{"fc1.weight", {4, 6}, std::vector<float>(24)},
                                  {"fc1.bias", {4}, std::vector<float>(4)}}});
    EXPECT_EQ(show_model(folder / "model.h5"),
              "model mlp, images (1, 2, 3), 4 classes\n"
              "scale 0.5\n"
              "shift -1\n"
              "\n"
              "tensor      shape   numbers\n"
              "fc1.weight  (4, 6)       24\n"
              "fc1.bias    (4)           4\n"
              "all                      28\n");
}

TEST(FinalReport, EndsWithOneLineOfKeysAndValues) {
    auto results = test::example_results();
    results.summary = as_attributes(summarise(results, 4, 0.5));
    const auto lines = lines_of(final_report(results, "a folder/run.h5"));
    EXPECT_EQ(
        lines.back(),
        "RESULT status=finished ranks=2 protocol=wasp:period=50 lr=0.0625 samples=112 updates=7 "
        "training_seconds=4 samples_per_second=28 final_accuracy=0.75 best_accuracy=0.75 "
        "final_loss=0.75 target_accuracy=0.5 reached=true time_to_accuracy=2 "
        "staleness_mean=0.7142857142857143 staleness_p95=1 staleness_max=1 "
        "step_mass=1.2857142857142858 idle_share=0.05405405405405406 bytes=7000 dropped=1 "
        "file=a folder/run.h5");
    EXPECT_EQ(lines[0], "accuracy     75.00 %, best 75.00 %, test loss 0.7500");
    EXPECT_EQ(lines[1], "target       50.00 % reached after 2.00 s");
}

TEST(FinalReport, OfARunThatKnowsNothingIsStillOneLine) {
    const auto lines = lines_of(final_report({}, "run.h5"));
    EXPECT_TRUE(lines.back().starts_with("RESULT status=running ranks=0 samples=nan"));
    EXPECT_EQ(lines[0], "accuracy     not evaluated");
}

TEST(Provenance, SaysWhereWhenAndWithWhat) {
    RunFacts facts;
    facts.cluster = "MPICH";
    facts.seed = 7;
    facts.ranks.resize(3);
    for (int i = 0; i < 3; ++i) {
        facts.ranks[static_cast<std::size_t>(i)].node = i / 2;
        facts.ranks[static_cast<std::size_t>(i)].host = i / 2 == 0 ? "n0" : "n1";
        facts.ranks[static_cast<std::size_t>(i)].cpus = std::to_string(i);
    }
    const auto known = provenance(facts);
    EXPECT_EQ(std::get<std::string>(known.at("hosts")), "n0,n1");
    EXPECT_EQ(std::get<std::string>(known.at("binding")), "0;1;2");
    EXPECT_EQ(std::get<std::int64_t>(known.at("ranks")), 3);
    EXPECT_EQ(std::get<std::int64_t>(known.at("nodes")), 2);
    EXPECT_EQ(std::get<std::int64_t>(known.at("seed")), 7);
    for (const auto* name : {"git_commit", "build_flags", "compiler", "hdf5", "cpu_model", "memory",
                             "operating_system", "start_time"})
        EXPECT_FALSE(std::get<std::string>(known.at(name)).empty()) << name;
    EXPECT_NE(std::get<std::string>(known.at("build_flags")), "unknown");
    EXPECT_EQ(std::get<std::string>(known.at("start_time")).size(), 20U);  // 2018-11-15T08:00:00Z
}

TEST(Provenance, KnowsTheCpusThatItIsBoundTo) {
    EXPECT_EQ(bound_cpus() + "\n",
              test::output_of("sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status"));
    EXPECT_GE(bound_socket(), -1);
}

}  // namespace
}  // namespace wasp
