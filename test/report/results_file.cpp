// Results files: what they hold, that names are claimed once, and that nothing ever leaves half a
// file.
#include "report/results_file.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "support/options.hpp"
#include "support/output_of.hpp"
#include "support/results.hpp"
#include "support/scratch.hpp"
#include "support/traced_process.hpp"

namespace wasp {
namespace {

using Names = std::vector<std::string>;

TEST(ResultsSchema, IsTheGoldenOne) {
    const test::Scratch folder;
    ResultsFile file(folder / "run.h5", IfTaken::refuse);
    file.write(test::example_results());

    std::ifstream golden("test/golden/results_schema.txt");
    ASSERT_TRUE(golden) << "run the tests from the project's folder";
    const std::string expected{std::istreambuf_iterator<char>(golden), {}};
    EXPECT_EQ(test::output_of(test::options.python + " test/report/list_schema.py " +
                              file.path().string()),
              expected);
}

TEST(ResultsFileName, IsTakenOnce) {
    const test::Scratch folder;
    const ResultsFile first(folder / "run.h5", IfTaken::refuse);
    try {
        const ResultsFile second(folder / "run.h5", IfTaken::refuse);
        FAIL() << "the name was taken twice";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        EXPECT_NE(std::string(error.what()).find("--unique"), std::string::npos) << error.what();
    }
    EXPECT_EQ(folder.names(), Names{"run.h5"});
}

TEST(ResultsFileName, IsNumberedWhenAsked) {
    const test::Scratch folder;
    const auto take = [&](const char* name) {
        return ResultsFile(folder / name, IfTaken::number).path().filename().string();
    };
    EXPECT_EQ(take("run.h5"), "run.h5");
    EXPECT_EQ(take("run.h5"), "run-2.h5");
    EXPECT_EQ(take("run.h5"), "run-3.h5");
    EXPECT_EQ(take("run-2.h5"), "run-2-2.h5");
    EXPECT_EQ(take("plain"), "plain");
    EXPECT_EQ(take("plain"), "plain-2");
}

TEST(ResultsFileName, ThatWasRemovedIsTakenAgain) {
    const test::Scratch folder;
    ResultsFile file(folder / "run.h5", IfTaken::refuse);
    std::filesystem::remove(file.path());
    file.write(test::example_results());
    file.write(test::example_results());
    EXPECT_EQ(folder.names(), Names{"run.h5"});
    EXPECT_EQ(read_results(folder / "run.h5").status, "finished");
}

TEST(ResultsFileName, ThatAnotherHasTakenIsLeftToIt) {
    for (const bool resumes : {false, true}) {
        const test::Scratch folder;
        const auto path = folder / "run.h5";
        ResultsFile file(path, resumes ? IfTaken::replace : IfTaken::refuse);
        std::filesystem::remove(path);
        const ResultsFile other(path, IfTaken::refuse);
        try {
            file.write(test::example_results());
            FAIL() << "the other's file was replaced";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::fault);
            EXPECT_NE(std::string(error.what()).find("run-2.h5'"), std::string::npos)
                << error.what();
        }
        file.write(test::example_results());  // goes on where it is
        EXPECT_EQ(folder.names(), (Names{"run-2.h5", "run.h5"}));
        EXPECT_EQ(read_results(path).status, "running");
        EXPECT_EQ(read_results(folder / "run-2.h5").status, "finished");
    }
}

TEST(ResultsFile, OfAWriterThatIsLostIsMarkedFailedAndLosesNothing) {
    const test::Scratch folder;
    const auto marked = [&](const std::string& name, const std::string& status) {
        ResultsFile file(folder / name, IfTaken::refuse);
        auto results = test::example_results();
        results.status = status;
        file.write(results);
        return file.path();
    };
    const auto contents = [&](const std::filesystem::path& path) {
        return test::output_of(test::options.python + " test/report/print_all.py " + path.string());
    };
    const auto running = marked("running.h5", "running"), failed = marked("failed.h5", "failed");
    mark_failed(running);
    EXPECT_EQ(read_results(running).status, "failed");
    EXPECT_EQ(contents(running), contents(failed));
    const auto finished = marked("finished.h5", "finished");
    mark_failed(finished);
    EXPECT_EQ(read_results(finished).status, "finished");
    mark_failed(folder / "missing.h5");
}

TEST(ResultsFileName, GoesToOneOfManyProcesses) {
    const test::Scratch folder;
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            try {
                const ResultsFile file(folder / "run.h5", IfTaken::refuse);
                _exit(0);
            } catch (const Error& error) {
                _exit(static_cast<int>(error.code()));
            }
        }
        children.push_back(child);
    }
    int won = 0;
    for (const pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        ASSERT_TRUE(WIFEXITED(status));
        if (WEXITSTATUS(status) == 0)
            ++won;
        else
            EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(ExitCode::usage));
    }
    EXPECT_EQ(won, 1);
    EXPECT_EQ(folder.names(), Names{"run.h5"});
}

/// At every system call of taking the name and writing the file twice.
TEST(ResultsFile, OpensAndIsCompleteWheneverTheWriterIsKilled) {
    const auto results = test::example_results();
    const test::Scratch folder;
    const auto path = folder / "run.h5";
    const auto write_run = [&] {
        ResultsFile file(path, IfTaken::refuse);
        auto part = results;
        part.status = "running";
        part.curve.resize(1);
        file.write(part);
        file.write(results);
    };
    std::size_t rows_before = 0;
    bool existed = false;
    const auto ended = test::look_at_every_system_call(write_run, [&] {
        EXPECT_TRUE(std::filesystem::exists(path) || !existed);
        if (!std::filesystem::exists(path)) return;
        existed = true;
        const auto read = read_results(path);  // throws unless it is complete
        EXPECT_EQ(read.status, read.curve.size() == 2 ? "finished" : "running");
        EXPECT_EQ(read.ranks.size(), read.curve.empty() ? 0U : 2U);
        EXPECT_GE(read.curve.size(), rows_before);
        rows_before = read.curve.size();
    });
    if (!ended) GTEST_SKIP() << "processes can't be traced here";
    EXPECT_TRUE(*ended);
    EXPECT_EQ(rows_before, 2U);
}

}  // namespace
}  // namespace wasp
