// What the program says to command lines and --config files, good and bad.
#include <gtest/gtest.h>

#include <fstream>

#include "report/results_file.hpp"
#include "support/wasp_program.hpp"

namespace wasp::test {
namespace {

struct Refusal {
    Words arguments;
    std::string message;
};

TEST(CommandLine, HelpAndVersionAreNoErrors) {
    for (const auto& arguments : {Words{"--help"},
                                  {"train", "--help"},
                                  {"data", "import", "--help"},
                                  {"--version"},
                                  {"help", "models"},
                                  {"help", "train"},
                                  {"help", "protocols"}}) {
        const auto outcome = run_wasp(arguments);
        EXPECT_EQ(outcome.code, 0) << arguments.back() << ": " << outcome.err;
        EXPECT_FALSE(outcome.out.empty());
        EXPECT_EQ(outcome.err, "");
    }
}

TEST(CommandLine, EveryOptionOfTrainIsInItsHelp) {
    const auto help = run_wasp({"train", "--help"}).out;
    for (const char* option : {"--data",
                               "--model",
                               "--protocol",
                               "--out",
                               "--epochs",
                               "--updates",
                               "--samples",
                               "--batch",
                               "--lr",
                               "--lr-schedule",
                               "--warmup",
                               "--momentum",
                               "--nesterov",
                               "--weight-decay",
                               "--seed",
                               "--threads",
                               "--order",
                               "--shards",
                               "--init",
                               "--save-model",
                               "--target-accuracy",
                               "--stop-at-target",
                               "--eval-every",
                               "--eval",
                               "--validation",
                               "--record-every",
                               "--max-loss",
                               "--stall-timeout",
                               "--progress",
                               "--unique",
                               "--config",
                               "--initialisation",
                               "--cluster"})
        EXPECT_NE(help.find(std::string(option) + " "), std::string::npos) << option;
}

TEST(CommandLine, UnknownWordsNameTheNearestKnown) {
    const std::vector<Refusal> refusals{
        {{"trian"}, "did you mean 'train'"},
        {{"data", "impot"}, "did you mean 'import'"},
        {{"data", "import", "idz"}, "did you mean 'idx'"},
        {{"train", "--modle", "mlp"}, "did you mean '--model'"},
        {{"train", "--learning-rte=1"}, "unknown option '--learning-rte'"},
        {{"eval", "--model-fil", "x"}, "did you mean '--model-file'"},
        {{"train", "--eval", "defered"}, "did you mean 'deferred'"},
        {{"results", "sow"}, "did you mean 'show'"},
        {{"train", "--nosuch"}, "unknown option '--nosuch'; see"},
        {{}, "needs a command: train"},
        {{"data"}, "needs a command: import"}};
    for (const auto& refusal : refusals)
        EXPECT_EQ(not_refused(run_wasp(refusal.arguments), 2, refusal.message), "");
}

TEST(CommandLine, WrongTrainingOptionsAreRefusedBeforeAnyWork) {
    const std::vector<Refusal> refusals{
        {{}, "how long? give --epochs, --updates or --samples"},
        {{"--epochs", "1", "--samples", "5"}, "give one"},
        {{"--epochs", "0"}, "--epochs: '0' must be a whole number of at least 1"},
        {{"--epochs", "1.5"}, "--epochs: '1.5' must be a whole number"},
        {{"--epochs", "inf"}, "--epochs: 'inf' must be a whole number"},
        {{"--epochs"}, "--epochs needs a value"},
        {{"--save-model", "--epochs", "4"}, "--save-model needs a value"},
        {{"--epochs", "1", "--epochs", "2"}, "--epochs is given 2 times"},
        {{"--epochs", "99999999999999999999"}, "from 1 to 1000000000000000"},
        {{"--epochs", "1", "--lr", "1e30"},
         "--lr: '1e30' must be a number from 0 to 1000000000000000"},
        {{"--epochs", "1", "--seed", "9223372036854775807"}, "from 0 to 1000000000000000"},
        {{"--epochs", "1", "--protocol", ":"}, "--protocol: "},
        {{"--epochs", "1", "--straggler", "x"}, "--straggler: "},
        {{"--epochs", "1", "--lr-schedule", "step:every=0"}, "--lr-schedule: "},
        {{"--epochs", "1", "--lr", "fast"}, "--lr: 'fast' must be a number"},
        {{"--epochs", "1", "--momentum", "1"}, "--momentum: '1' must be a number from 0 to 0.9999"},
        {{"--epochs", "1", "--nesterov", "--momentum", "0"}, "--nesterov needs --momentum"},
        {{"--epochs", "1", "--model", "lenet"}, "unknown model 'lenet', did you mean 'lenet5'"},
        {{"--epochs", "1", "--protocol", "wsp"}, "unknown protocol 'wsp', did you mean 'wasp'"},
        {{"--epochs", "1", "--protocol", "wsap"}, "did you mean 'wasp'"},
        {{"--epochs", "1", "--protocol", "wasp:perid=3"}, "did you mean 'period'"},
        {{"--epochs", "1", "--protocol", "wasp:period=0"}, "period"},
        {{"--epochs", "1", "--lr-schedule", "cosin"}, "did you mean 'cosine'"},
        {{"--epochs", "1", "--eval-every", "3hours"}, "--eval-every: '3hours'"},
        {{"--epochs", "1", "--eval-every", "0"}, "--eval-every: '0'"},
        {{"--epochs", "1", "--stop-at-target"}, "--stop-at-target needs --target-accuracy"},
        {{"--epochs", "1", "--stop-at-target", "--target-accuracy", "0.9"}, "needs --eval inline"},
        {{"--epochs", "1", "--target-accuracy", "0.9", "--eval", "none"}, "--eval none"},
        {{"--epochs", "1", "--target-accuracy", "90"}, "must be a number from 0 to 1"},
        {{"--epochs", "1", "--protocol", "nosync", "--validation", "0"}, "--validation 0"},
        {{"--epochs", "1", "--protocol", "nosync:init=different", "--init", "m.h5"}, "--init"},
        {{"--epochs", "1", "--protocol", "nosync", "--overlap", "on"}, "use --overlap off"},
        {{"--epochs", "1", "--overlap", "on", "--replay", "s"}, "use --overlap off"},
        {{"--epochs", "1", "--shard-bytes", "4k"}, "--shard-bytes: '4k' must be auto, or a whole"},
        {{"--epochs", "1", "--shard-bytes", "4096", "--protocol", "bsp"}, "no weights in a store"},
        {{"--epochs", "1", "--compress", "topk:2"}, "--compress: 'topk:2' must be none, fp16"},
        {{"--epochs", "1", "--compress", "fp16", "--protocol", "bsp"},
         "--compress fp16: bsp pushes no updates"},
        {{"--epochs", "1", "--compress", "fp16", "--momentum-at", "server"},
         "use --momentum-at worker"},
        {{"--epochs", "1", "--cluster", "threds:2"}, "threads:N"},
        {{"--epochs", "1", "--cluster", "threads:0"}, "from 1 to"},
        {{"--epochs", "1", "extra"}, "unknown argument 'extra'"}};
    const Scratch scratch;
    for (const auto& refusal : refusals) {
        const Words arguments =
            Words{"train", "--data", "no.h5", "--out", (scratch / "r.h5").string()} +
            refusal.arguments;
        EXPECT_EQ(not_refused(run_wasp(arguments), 2, refusal.message), "");
    }
    EXPECT_EQ(not_refused(run_wasp({"train", "--epochs", "1"}), 2, "--data is missing"), "");
    EXPECT_TRUE(scratch.names().empty());
}

TEST(CommandLine, UnderMpiAWrongCommandLineIsRefusedOnce) {
    const auto outcome = run_command(mpi_words(4, {"train", "--modle", "mlp"}));
    EXPECT_EQ(not_refused(outcome, 2, "did you mean '--model'"), "");
}

TEST(CommandLine, ThreadsUnderALauncherAreRefusedOnce) {
    const auto outcome = run_command(mpi_words(2, {"train", "--data", "no.h5", "--out", "r.h5",
                                                   "--epochs", "1", "--cluster", "threads:2"}));
    EXPECT_EQ(not_refused(outcome, 2, "started 2 processes"), "");
}

TEST(CommandLine, OptionsStandInAFileAndTheCommandLineWins) {
    const Scratch scratch;
    std::ofstream(scratch / "run.toml")
        << "# a run\nepochs = 1\nlr = 0.5\nmomentum = 0\n"
        << "protocol = \"serial\"\neval = \"none\"\n"
        << "nesterov = false\ndata = \"" << small_data().string() << "\"\n";
    const auto out = scratch / "r.h5";
    const auto outcome = run_wasp({"train", "--config", (scratch / "run.toml").string(), "--lr",
                                   "0.25", "--out", out.string(), "--progress", "none"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto results = read_results(out);
    EXPECT_EQ(results.config.at("lr"), Attribute(0.25));
    EXPECT_EQ(results.config.at("momentum"), Attribute(0.0));
    EXPECT_EQ(results.config.at("protocol"), Attribute(std::string("serial")));
    EXPECT_TRUE(results.curve.empty());
}

TEST(CommandLine, ALengthOnTheCommandLineReplacesAnyOfTheFile) {
    const Scratch scratch;
    std::ofstream(scratch / "run.toml") << "epochs = 2\n";
    const auto out = scratch / "r.h5";
    const auto outcome = run_wasp({"train", "--config", (scratch / "run.toml").string(),
                                   "--updates", "4", "--data", small_data().string(), "--out",
                                   out.string(), "--cluster", "threads:2", "--progress", "none"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto config = read_results(out).config;
    EXPECT_EQ(config.at("updates"), Attribute(std::int64_t{4}));
    EXPECT_FALSE(config.contains("epochs"));
}

TEST(CommandLine, WrongConfigFilesAreRefusedWithTheirLine) {
    const Scratch scratch;
    const auto file = scratch / "run.toml";
    const std::vector<std::pair<std::string, std::string>> contents{
        {"epochs = 1\nlearnig-rate = 1\n", "line 2: unknown option 'learnig-rate'"},
        {"protocol = \"wsp\"\n", "line 1: protocol: unknown protocol"},
        {"\nlr-schedule = \"step:every=0\"\n", "line 2: lr-schedule: "},
        {std::string(300'000, 'x') + " = 1\n", "unknown option 'xxx"},
        {"epoch = 1\n", "did you mean 'epochs'"},
        {"lr = \"fast\"\n", "line 1: lr must be a number"},
        {"nesterov = 1\n", "nesterov must be true or false"},
        {"epochs = 1.5\n", "epochs must be a whole number"},
        {"epochs = -1\n", "epochs: '-1' must be a whole number of at least 1"},
        {"[train]\nepochs = 1\n", "unknown option 'train'"},
        {"lr = [0.1]\n", "lr must be a number"},
        {"epochs = \n", "line 1"}};
    for (const auto& [text, message] : contents) {
        std::ofstream(file, std::ios::trunc) << text;
        const auto outcome =
            run_wasp({"train", "--config", file.string(), "--data", "no.h5", "--out", "no/r.h5"});
        EXPECT_EQ(not_refused(outcome, 2, message), "") << text;
    }
    const auto missing = run_wasp({"train", "--config", "missing.toml"});
    EXPECT_EQ(not_refused(missing, 2, "missing.toml"), "");
}

}  // namespace
}  // namespace wasp::test
