// Names of files that a run must not take, or can't read.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "report/results_file.hpp"
#include "support/wasp_program.hpp"

namespace wasp::test {
namespace {

class FileNames : public testing::Test {
protected:
    std::string name(const std::string& file) const { return (scratch_ / file).string(); }
    Outcome train(const Words& more) const {
        return run_wasp(Words{"train", "--data", small_data().string(), "--epochs", "1",
                              "--progress", "none", "--cluster", "threads:2"} +
                        more);
    }
    Scratch scratch_;
};

TEST_F(FileNames, OneFileForTwoThingsIsRefusedByWhateverName) {
    std::filesystem::create_directory(scratch_ / "o");
    std::filesystem::create_directory_symlink(scratch_ / "o", scratch_ / "link");
    const Words options_with_a_file{"--out", "--save-model", "--record-schedule"};
    for (const auto* other : {"o/x", "o/./x", "link/x", "o/../o/x"})
        for (std::size_t first = 0; first < 3; ++first)
            for (std::size_t second = first + 1; second < 3; ++second) {
                Words words{options_with_a_file[first], name("o/x"), options_with_a_file[second],
                            name(other)};
                if (first != 0) words = words + Words{"--out", name("o/r.h5")};
                EXPECT_EQ(not_refused(train(words), 2, "are the same file"), "") << other;
            }
    EXPECT_TRUE(std::filesystem::is_empty(scratch_ / "o"));
}

TEST_F(FileNames, EmptyOnesAreRefused) {
    for (const auto* option :
         {"--data", "--out", "--save-model", "--init", "--replay", "--record-schedule", "--model",
          "--protocol", "--lr-schedule", "--cluster", "--straggler"}) {
        const auto outcome = run_wasp({"train", option, ""});
        EXPECT_EQ(not_refused(outcome, 2, std::string(option) + ": "), "");
    }
    EXPECT_EQ(not_refused(run_wasp({"data", "check", ""}), 2, "FILE: must not be empty"), "");
    EXPECT_EQ(not_refused(train({"--out", name("r.h5"), "--config", ""}), 2, "no such file"), "");
    EXPECT_TRUE(scratch_.names().empty());
}

TEST_F(FileNames, TextsAreReadFromOrdinaryFilesOnly) {
    ASSERT_EQ(mkfifo(name("pipe").c_str(), 0600), 0);
    std::filesystem::create_directory(scratch_ / "folder");
    for (const auto& [file, why] :
         std::vector<std::pair<std::string, std::string>>{{name("pipe"), "not an ordinary file"},
                                                          {name("folder"), "not an ordinary file"},
                                                          {"/dev/zero", "not an ordinary file"},
                                                          {name("missing"), "no such file"}})
        for (const Words& words :
             {Words{"--config", file}, {"--protocol", "wasp:table=" + file}, {"--replay", file}})
            EXPECT_EQ(not_refused(train(words + Words{"--out", name("r.h5")}), 2, why), "")
                << words.front() << ' ' << file;
    std::ofstream(scratch_ / "large.toml") << std::string(2 << 20, '#');
    EXPECT_EQ(not_refused(train({"--out", name("r.h5"), "--config", name("large.toml")}), 2,
                          "larger than"),
              "");
}

TEST_F(FileNames, LinksThatLeadNowhereAreTaken) {
    std::filesystem::create_symlink("loop", scratch_ / "loop");
    std::filesystem::create_symlink("nowhere", scratch_ / "dangling");
    for (const auto* link : {"loop", "dangling"}) {
        EXPECT_EQ(not_refused(train({"--out", name(link)}), 2, "exists"), "");
        EXPECT_EQ(
            not_refused(train({"--out", name("r.h5"), "--save-model", name(link)}), 2, "exists"),
            "");
    }
    EXPECT_EQ(scratch_.names(), (Words{"dangling", "loop"}));
}

TEST_F(FileNames, NoModelIsReplaced) {
    std::ofstream(scratch_ / "m.h5") << "important";
    const auto outcome = train({"--out", name("r.h5"), "--unique", "--save-model", name("m.h5")});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("the model is " + name("m-2.h5")), std::string::npos) << outcome.out;
    EXPECT_EQ(run_wasp({"model", "show", name("m-2.h5")}).code, 0);
    std::ifstream kept(scratch_ / "m.h5");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), "important");
}

}  // namespace
}  // namespace wasp::test
