// Results files: what they hold, that names are claimed once, and that nothing ever leaves half a
// file.
#include "report/results_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "support/options.hpp"
#include "support/results.hpp"
#include "support/scratch.hpp"

namespace wasp {
namespace {

namespace fs = std::filesystem;

/// What `command` prints.
std::string output_of(const std::string& command) {
    FILE* pipe = popen(command.c_str(), "r");
    std::string output;
    std::array<char, 4096> buffer{};
    while (std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe))
        output.append(buffer.data(), count);
    EXPECT_EQ(pclose(pipe), 0) << command;
    return output;
}

TEST(ResultsSchema, IsTheGoldenOne) {
    const test::Scratch folder;
    ResultsFile file(folder / "run.h5", false);
    file.write(test::example_results());

    std::ifstream golden("test/golden/results_schema.txt");
    ASSERT_TRUE(golden) << "run the tests from the project's folder";
    const std::string expected{std::istreambuf_iterator<char>(golden), {}};
    EXPECT_EQ(
        output_of(test::options.python + " test/report/list_schema.py " + file.path().string()),
        expected);
}

TEST(ResultsFileName, IsTakenOnce) {
    const test::Scratch folder;
    const ResultsFile first(folder / "run.h5", false);
    try {
        const ResultsFile second(folder / "run.h5", false);
        FAIL() << "the name was taken twice";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        EXPECT_NE(std::string(error.what()).find("--unique"), std::string::npos) << error.what();
    }
    EXPECT_EQ(folder.names(), std::vector<std::string>{"run.h5"});
}

}  // namespace
}  // namespace wasp
