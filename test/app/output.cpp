// Standard output that is full, or that nobody reads.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>

#include "report/results_file.hpp"
#include "support/wasp_program.hpp"

namespace wasp::test {
namespace {

/// `wasp …`, with what a shell adds to it.
Outcome run_in_shell(const Words& arguments, const std::string& pattern) {
    std::string words;
    for (const auto& word : wasp_words(arguments)) words += fmt::format("'{}' ", word);
    return run_command({"sh", "-c", fmt::format(fmt::runtime(pattern), words)});
}

TEST(Output, ThatIsLostIsAnError) {
    const Scratch scratch;
    const auto out = scratch / "r.h5";
    const auto model = (scratch / "m.h5").string();
    const auto train =
        short_training(out, {"--epochs", "1", "--cluster", "threads:2", "--save-model", model});
    const auto full = "{} > /dev/full";
    EXPECT_EQ(not_refused(run_in_shell(train, full), 1, "standard output"), "");
    EXPECT_EQ(read_results(out).status, "finished");
    const auto data = small_data().string();
    for (const Words& words :
         {Words{"--help"},
          {"--version"},
          {"train", "--help"},
          {"help", "protocols"},
          {"model", "list"},
          {"model", "show", model},
          {"results", "show", out.string()},
          {"results", "csv", out.string()},
          {"eval", "--model-file", model, "--data", data},
          {"data", "check", data},
          {"data", "info", data},
          {"data", "synth", "--train", "20", "--test", "10", "--out", (scratch / "s.h5").string()},
          {"bench", "step", "--model", "mlp", "--seconds", "0.1"}})
        EXPECT_EQ(not_refused(run_in_shell(words, full), 1, "standard output"), "")
            << words.front() << ' ' << words.back();
}

TEST(Output, ThatNobodyReadsEndsNoRun) {
    const Scratch scratch;
    const auto out = scratch / "r.h5";
    const auto code = (scratch / "code").string();
    run_in_shell({"train", "--data", small_data().string(), "--out", out.string(), "--cluster",
                  "threads:2", "--epochs", "4", "--batch", "16", "--eval", "inline", "--eval-every",
                  "10updates", "--progress", "plain"},
                 "{{ {}; echo $? > " + code + "; }} | true");
    std::ifstream file(code);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "0\n");
    EXPECT_EQ(read_results(out).status, "finished");
}

TEST(Output, OfARunEndsWithALineOfItsOwn) {
    const Scratch scratch;
    const auto outcome =
        run_wasp(short_training(scratch / "r.h5", {"--epochs", "1", "--cluster", "threads:2"}));
    const auto last = outcome.out.rfind("\nRESULT status=finished ");
    ASSERT_NE(last, std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find('\n', last + 1), outcome.out.size() - 1);
}

}  // namespace
}  // namespace wasp::test
