// results/plot.py on files that this program wrote.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "support/options.hpp"
#include "support/output_of.hpp"
#include "support/results.hpp"
#include "support/scratch.hpp"

namespace wasp {
namespace {

std::string written(const test::Scratch& folder, const std::string& name, const Results& results) {
    ResultsFile file(folder / name, IfTaken::refuse);
    file.write(results);
    return file.path().string();
}

std::string head(const std::filesystem::path& path, std::size_t length) {
    std::string bytes(length, '\0');
    std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(length));
    return bytes;
}

TEST(Plot, DrawsOneRunAndManyAsPngAndPdf) {
    const test::Scratch folder;
    auto diverged = test::example_results();
    diverged.curve[1].test_accuracy = std::nan("");
    const std::string one = written(folder, "a.h5", test::example_results());
    const std::string many =
        one + " " + written(folder, "b.h5", diverged) + " " + written(folder, "c.h5", {});
    for (const auto& [files, name] : {std::pair{one, "one"}, {many, "many"}}) {
        const auto out = folder / name;
        test::output_of(test::options.python + " results/plot.py " + files + " --out " +
                        out.string());
        for (const auto* picture : {"accuracy", "staleness", "time"}) {
            EXPECT_EQ(head(out / (std::string(picture) + ".png"), 4), "\x89PNG");
            EXPECT_EQ(head(out / (std::string(picture) + ".pdf"), 4), "%PDF");
        }
    }
}

TEST(Plot, SaysWhatARunWithoutRowsLacks) {
    const test::Scratch folder;
    EXPECT_EQ(test::output_of(test::options.python + " results/plot.py " +
                              written(folder, "new.h5", {}) + " --out " + folder.path().string()),
              "accuracy: nothing recorded, not drawn\n"
              "staleness: nothing recorded, not drawn\n"
              "time: nothing recorded, not drawn\n");
}

TEST(Plot, RefusesOtherFilesInOneLine) {
    const test::Scratch folder;
    std::ofstream(folder / "text.h5") << "no HDF5\n";
    for (const auto* name : {"missing.h5", "text.h5"}) {
        const std::string command = test::options.python + " results/plot.py " +
                                    (folder / name).string() + " --out " + folder.path().string() +
                                    " 2>" + (folder / "said").string();
        EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2);
        std::ifstream said(folder / "said");
        const std::string text{std::istreambuf_iterator<char>(said), {}};
        EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
        EXPECT_NE(text.find(name), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace wasp
