// File systems that fail: one line, the right exit code, and what was on disk before stays.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/model_file.hpp"
#include "report/results_file.hpp"
#include "support/wasp_program.hpp"

namespace wasp::test {
namespace {

namespace fs = std::filesystem;

/// `wasp …` where, from the nth `call` on a file with `part` in its path on, calls fail with
/// `error`: see test/preload/fault.c.
Outcome run_with_fault(const std::string& fault, const Words& arguments) {
    const auto library = fs::path(this_program()).parent_path() / "fault.so";
    return run_command(Words{"env", "LD_PRELOAD=" + library.string(), "FAULT=" + fault,
                             "ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0"} +
                       wasp_words(arguments));
}

class Storage : public testing::Test {
protected:
    Words training(const Words& more = {}) const {
        return Words{"train",     "--data",     small_data(), "--out",      out,      "--batch",
                     "16",        "--epochs",   "6",          "--eval",     "inline", "--cluster",
                     "threads:2", "--protocol", "asp",        "--progress", "none"} +
               more;
    }

    Scratch scratch;
    fs::path out = scratch / "run.h5";
};

struct Fault {
    std::string name;
    int code = 1;
};

const std::vector<Fault> faults{{"ENOSPC"}, {"EDQUOT"}, {"EIO"}, {"EROFS", 2}};

TEST_F(Storage, ResultsThatCantBeBegunLeaveNothing) {
    for (const auto& [name, code] : faults)
        for (const std::string call : {"open", "write", "fsync", "close"}) {
            const auto outcome =
                run_with_fault(fmt::format("{}:1:{}:.run.h5.", call, name), training());
            EXPECT_EQ(not_refused(outcome, code, "run.h5"), "") << call << ' ' << name;
            EXPECT_EQ(scratch.names(), Words{}) << call << ' ' << name;
        }
}

TEST_F(Storage, ResultsFlushedBeforeStay) {
    for (const auto& [name, code] : faults)
        for (const std::string call : {"open", "write", "fsync", "rename"}) {
            fs::remove(out);
            // The first two are made before the first step: link() makes the name, then rename().
            const int number = call == "rename" ? 4 : 5;
            const auto outcome =
                run_with_fault(fmt::format("{}:{}:{}:run.h5", call, number, name), training());
            EXPECT_EQ(not_refused(outcome, code, "run.h5"), "") << call << ' ' << name;
            EXPECT_EQ(scratch.names(), Words{"run.h5"}) << call << ' ' << name;
            EXPECT_EQ(read_results(out).curve.size(), 2U) << call << ' ' << name;
        }
}

TEST_F(Storage, CheckpointsThatCantBeWrittenCostNothingElse) {
    for (const auto& fault : faults)
        for (const std::string call : {"mkdir", "open", "write", "fsync", "rename"}) {
            const auto part = call == "mkdir" ? ".ckpt" : "step-";
            const auto outcome =
                run_with_fault(fmt::format("{}:1:{}:{}", call, fault.name, part),
                               training({"--checkpoint-every", "1epochs", "--unique"}));
            EXPECT_EQ(outcome.code, 0) << call << ' ' << fault.name << outcome.err;
            EXPECT_NE(outcome.err.find("wasp: warning: no checkpoint: "), std::string::npos);
            for (const auto& name : scratch.names())
                if (name.ends_with(".h5")) {
                    EXPECT_EQ(read_results(scratch / name).status, "finished");
                }
        }
}

TEST_F(Storage, ResultsAreWholeWhereTheModelOrTheScheduleIsNot) {
    for (const auto& [name, code] : faults)
        for (const std::string file : {"model.h5", "schedule.txt"}) {
            fs::remove(out);
            fs::remove(scratch / "model.h5");
            const auto outcome =
                run_with_fault(fmt::format("write:1:{}:{}", name, file),
                               training({"--save-model", scratch / "model.h5", "--record-schedule",
                                         scratch / "schedule.txt"}));
            EXPECT_EQ(not_refused(outcome, code, file), "") << file << ' ' << name;
            const auto results = read_results(out);
            EXPECT_EQ(results.status, "failed");
            EXPECT_EQ(results.curve.size(), 6U);
            EXPECT_TRUE(results.summary.contains("evaluation_seconds"));
            EXPECT_FALSE(fs::exists(scratch / file));
            fs::remove(scratch / "schedule.txt");
        }
}

TEST_F(Storage, ARunThatIsKilledBeforeAllIsWrittenIsNotFinished) {
    run_with_fault("write:1:KILL:model.h5", training({"--save-model", scratch / "model.h5"}));
    const auto results = read_results(out);
    EXPECT_NE(results.status, "finished");
    EXPECT_EQ(results.curve.size(), 6U);
    EXPECT_FALSE(fs::exists(scratch / "model.h5"));
}

TEST_F(Storage, FileSystemsWithoutLocksAreFine) {
    const auto outcome = run_with_fault("flock:1:ENOLCK:.h5", training());
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(run_with_fault("flock:1:ENOLCK:.h5", {"results", "show", out}).code, 0);
}

}  // namespace
}  // namespace wasp::test
