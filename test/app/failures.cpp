// What happens when a run goes wrong: one line, the right exit code, results that tell, and nobody
// left behind.
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <regex>
#include <stdexcept>

#include "report/results_file.hpp"
#include "support/process.hpp"
#include "support/wasp_program.hpp"

namespace wasp::test {
namespace {

TEST(Failures, InputThatCantBeUsedIsRefused) {
    const Scratch scratch;
    std::ofstream(scratch / "text.h5") << "no HDF5\n";
    std::ofstream(scratch / "taken.h5") << "important\n";
    const auto out = (scratch / "r.h5").string();
    const auto data = small_data().string();
    const auto refuse = [&](const Words& words, const std::string& message) {
        EXPECT_EQ(
            not_refused(run_wasp(Words{"train", "--epochs", "1", "--cluster", "threads:2"} + words),
                        2, message),
            "");
    };
    refuse({"--data", "missing.h5", "--out", out}, "missing.h5");
    refuse({"--data", (scratch / "text.h5").string(), "--out", out}, "text.h5");
    refuse({"--data", scratch.path().string(), "--out", out}, scratch.path().string());
    refuse({"--data", data, "--out", (scratch / "taken.h5").string()}, "exists");
    refuse({"--data", data, "--out", out, "--save-model", (scratch / "taken.h5").string()},
           "exists");
    refuse({"--data", data, "--out", "/no/such/folder/r.h5"}, "/no/such/folder");
    refuse({"--data", data, "--out", out, "--save-model", "/no/such/folder/m.h5"},
           "/no/such/folder");
    refuse({"--data", data, "--out", "/proc/r.h5"}, "/proc");
    refuse({"--data", data, "--out", out, "--protocol", "serial"}, "serial");
    refuse({"--data", data, "--out", out, "--protocol", "wasp:servers=2"}, "worker");
    refuse({"--data", data, "--out", out, "--validation", "600"}, "only 600 training images");
    refuse({"--data", data, "--out", out, "--init", (scratch / "text.h5").string()}, "text.h5");
    refuse({"--data", data, "--out", out, "--threads", "4000"}, "--threads 4000");
    refuse({"--data", data, "--out", out, "--model", "resnet152", "--batch", "20000"}, "GB a rank");
    EXPECT_EQ(scratch.names(), (Words{"taken.h5", "text.h5"}));
    std::ifstream taken(scratch / "taken.h5");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(taken), {}), "important\n");
}

TEST(Failures, UnderMpiAnErrorOfAllIsToldOnce) {
    const Scratch scratch;
    const auto outcome = run_command(mpi_words(4, {"train", "--epochs", "1", "--data", "missing.h5",
                                                   "--out", (scratch / "r.h5").string()}));
    EXPECT_EQ(not_refused(outcome, 2, "missing.h5"), "");
}

std::string status_of(const std::filesystem::path& results) {
    return read_results(results).status;
}

TEST(Failures, DivergenceEndsAllRanksWithCode3) {
    const Scratch scratch;
    const Words explode{"--lr", "1e9", "--epochs", "1000", "--protocol", "ssp"};
    const Words too_high{"--max-loss", "0.01", "--epochs", "1000", "--protocol", "bsp"};
    int number = 0;
    for (const auto& words : {explode, too_high}) {
        const auto out = [&](const std::string& kind) {
            return scratch / (kind + std::to_string(number) + ".h5");
        };
        const auto threads =
            run_wasp(short_training(out("threads"), words + Words{"--cluster", "threads:2"}));
        EXPECT_EQ(not_refused(threads, 3, "diverged: rank "), "");
        EXPECT_EQ(status_of(out("threads")), "diverged");
        const auto mpi = run_command(mpi_words(3, short_training(out("mpi"), words)));
        EXPECT_EQ(not_refused(mpi, 3, "diverged: rank "), "");
        EXPECT_EQ(status_of(out("mpi")), "diverged");
        ++number;
    }
}

/// A training that goes on until it is stopped, and says when it has begun.
Words endless_training(const std::filesystem::path& out, const std::string& protocol) {
    return {"train",    "--data",       small_data().string(), "--out",      out.string(),
            "--epochs", "1000000000",   "--protocol",          protocol,     "--eval",
            "inline",   "--eval-every", "50updates",           "--progress", "plain",
            "--lr",     "0.0001"};
}

bool has_begun(const Process& process) {
    return process.out().find("accuracy") != std::string::npos;
}

TEST(Failures, ASignalAtOneRankStopsAllWithCode75) {
    const Scratch scratch;
    for (const int signal : {SIGTERM, SIGUSR1, SIGUSR2, SIGINT, SIGHUP}) {
        const auto out = scratch / (std::to_string(signal) + ".h5");
        Process process(
            wasp_words(endless_training(out, "wasp") + Words{"--cluster", "threads:2"}));
        process.wait_until([&] { return has_begun(process); });
        process.send(signal);
        const auto outcome = process.wait();
        EXPECT_EQ(not_refused(outcome, 75, "stopped by SIG"), "");
        EXPECT_EQ(status_of(out), "stopped");
        EXPECT_FALSE(read_results(out).curve.empty());
    }
    for (const std::string protocol : {"bsp", "wasp", "nosync"}) {
        const auto out = scratch / (protocol + ".h5");
        Process process(mpi_words(3, endless_training(out, protocol)));
        process.wait_until([&] { return has_begun(process); });
        const auto ranks = process.descendants("wasp");
        ASSERT_EQ(ranks.size(), 3U);
        kill(ranks.back(), SIGTERM);
        const auto outcome = process.wait();
        EXPECT_EQ(not_refused(outcome, 75, "stopped by SIGTERM"), "") << protocol;
        EXPECT_EQ(status_of(out), "stopped");
    }
}

TEST(Failures, ARunUnderNohupOutlivesItsTerminal) {
    const Scratch scratch;
    const auto out = scratch / "r.h5";
    Process process(Words{"sh", "-c", "trap '' HUP; exec \"$@\"", "sh"} +
                    wasp_words(endless_training(out, "bsp") + Words{"--cluster", "threads:2"}));
    process.wait_until([&] { return has_begun(process); });
    process.send(SIGHUP);
    process.send(SIGTERM);  // would be the second
    EXPECT_EQ(not_refused(process.wait(), 75, "stopped by SIGTERM"), "");
    EXPECT_EQ(status_of(out), "stopped");
}

// The name is another's when the next evaluation is written.
TEST(Failures, ANameThatAnotherRunTookIsLeftToIt) {
    const Scratch scratch;
    const auto out = scratch / "r.h5";
    Process process(mpi_words(3, endless_training(out, "asp")));
    process.wait_until([&] { return has_begun(process); });
    std::ofstream(scratch / "other") << "another's\n";
    std::filesystem::rename(scratch / "other", out);
    const auto outcome = process.wait();
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.err.find("is another's by now; the results so far are in '"),
              std::string::npos)
        << outcome.err;
    EXPECT_EQ(scratch.names(), (Words{"r-2.h5", "r.h5"}));
    EXPECT_EQ(status_of(scratch / "r-2.h5"), "failed");
    std::ifstream taken(out);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(taken), {}), "another's\n");
}

TEST(Failures, TheResultsOfAKilledRunKnowAllRanks) {
    const Scratch scratch;
    const auto out = scratch / "r.h5";
    Process process(mpi_words(3, endless_training(out, "asp")));
    // The line of an evaluation is said before the file is written: at the second one it was.
    process.wait_until([&] {
        const auto out_so_far = process.out();
        return out_so_far.find("accuracy") != out_so_far.rfind("accuracy");
    });
    kill(process.descendants("wasp").front(), SIGKILL);
    EXPECT_NE(process.wait().code, 0);
    EXPECT_TRUE(process.gone_within(5));
    const auto results = read_results(out);
    EXPECT_EQ(results.status, "failed");
    ASSERT_EQ(results.ranks.size(), 3U);
    EXPECT_GT(results.ranks[0].steps.size(), 0U);
    for (const auto& rank : results.ranks) {
        EXPECT_NE(rank.host, "");
        EXPECT_NE(rank.cpus, "");
    }
}

TEST(Failures, TheSecondSignalEndsAtOnce) {
    const Scratch scratch;
    const auto out = scratch / "r.h5";
    // With the one rank suspended neither signal is looked at before both are there.
    Process process(wasp_words(endless_training(out, "serial") + Words{"--cluster", "threads:1"}));
    process.wait_until([&] { return has_begun(process); });
    process.send(SIGSTOP);
    process.send(SIGTERM);
    process.send(SIGUSR1);
    process.send(SIGCONT);
    EXPECT_EQ(process.wait().code, 75);
    EXPECT_TRUE(process.gone_within(5));  // the guardian, too
    EXPECT_EQ(status_of(out), "failed");
}

TEST(Failures, ADeadRankTakesTheOthersWithIt) {
    const Scratch scratch;
    for (const std::string protocol : {"bsp", "asp"}) {
        Process process(mpi_words(3, endless_training(scratch / (protocol + ".h5"), protocol)));
        process.wait_until([&] { return has_begun(process); });
        kill(process.descendants("wasp").back(), SIGKILL);
        EXPECT_NE(process.wait().code, 0);
        EXPECT_TRUE(process.gone_within(5));
        EXPECT_EQ(status_of(scratch / (protocol + ".h5")), "failed");
    }
}

/// How a run ended that had a rank suspended with SIGSTOP: named once, with what it was at.
void expect_the_suspended_is_named(const Process& process, const Outcome& outcome, int rank,
                                   int pid) {
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    const auto first = outcome.err.find("wasp: error: ");
    EXPECT_EQ(outcome.err.find("wasp: error: ", first + 1), std::string::npos) << outcome.err;
    const std::regex sentence(
        "rank " + std::to_string(rank) + " \\(process " + std::to_string(pid) +
        " on \\S+\\), [a-z][^;]* step [0-9]+[^;]*, has given no sign of life");
    EXPECT_TRUE(std::regex_search(outcome.err, sentence)) << outcome.err;
    EXPECT_TRUE(process.gone_within(5, "wasp"));
}

/// Of the ranks of `process`, the number of the one with that process id.
int rank_of(int pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/environ");
    const std::string variables(std::istreambuf_iterator<char>(file), {});
    constexpr std::string_view name = "PMI_RANK=";
    return std::stoi(variables.substr(variables.find(name) + name.size()));
}

/// Error: it is not there; a signal to process -1 would go to all that there are.
int pid_of(const std::vector<int>& ranks, int rank) {
    const auto found = std::ranges::find(ranks, rank, rank_of);
    if (found == ranks.end()) throw std::runtime_error("there is no rank " + std::to_string(rank));
    return *found;
}

/// One of `ranks` is suspended: it is named, and the results tell.
void suspend_a_rank(const std::filesystem::path& out, const std::string& protocol, int ranks,
                    int rank) {
    SCOPED_TRACE(protocol);
    Process process(
        mpi_words(ranks, endless_training(out, protocol) + Words{"--stall-timeout", "0.7"}));
    process.wait_until([&] { return has_begun(process); });
    const int victim = pid_of(process.descendants("wasp"), rank);
    kill(victim, SIGSTOP);
    const auto outcome = process.wait();
    expect_the_suspended_is_named(process, outcome, rank, victim);
    EXPECT_EQ(status_of(out), "failed") << outcome.err;
}

// Whether the others wait for it, or would only have missed it at their end.
TEST(Failures, ASuspendedRankIsNamedOnceAndTheResultsTell) {
    const Scratch scratch;
    int number = 0;
    for (const std::string protocol :
         {"bsp", "wasp:period=5", "ssp", "localsgd", "asp", "asp:servers=1", "easgd", "eamsgd",
          "nosync", "backup", "consgd"}) {
        const auto out = scratch / (std::to_string(++number) + ".h5");
        suspend_a_rank(out, protocol, 4, 3);  // not the one that writes
    }
}

// Another rank says what became of the results.
TEST(Failures, ASuspendedWriterOrServerIsNamedAndTheResultsTell) {
    const Scratch scratch;
    for (const std::string protocol : {"asp", "nosync", "asp:servers=1"})
        suspend_a_rank(scratch / (protocol + ".h5"), protocol, 3, 0);
}

// The writer hears of it and says how the run ended; where it is the writer, another node does.
TEST(Failures, ASuspendedRankOnAnotherNodeIsNamedAndTheResultsTell) {
    const std::string two_nodes = "test/two_nodes/on_two_nodes.sh";
    if (run_command({two_nodes, "--possible"}).code != 0)
        GTEST_SKIP() << "needs root, network namespaces and iproute2";
    const Scratch scratch;
    for (const int rank : {3, 0}) {
        const auto out = scratch / (std::to_string(rank) + ".h5");
        Process process(Words{two_nodes, options.mpiexec, "4"} +
                        wasp_words(endless_training(out, "asp") + Words{"--stall-timeout", "1"}));
        process.wait_until([&] { return has_begun(process); });
        kill(pid_of(process.descendants("wasp"), rank), SIGSTOP);
        const auto outcome = process.wait();
        EXPECT_EQ(outcome.code, 1);
        const std::regex sentence("rank " + std::to_string(rank) +
                                  " \\(process [0-9]+ on node[12]\\), [a-z][^;]* step [0-9]+"
                                  "[^;]*, has given no sign of life");
        EXPECT_TRUE(std::regex_search(outcome.err, sentence)) << outcome.err;
        EXPECT_TRUE(process.gone_within(5));
        EXPECT_EQ(status_of(out), "failed") << outcome.err;
    }
}

/// A file system of 120 kB, as long as the object lives; root only.
class SmallDisk {
public:
    explicit SmallDisk(const std::filesystem::path& folder) : folder_(folder) {
        std::filesystem::create_directory(folder);
        mounted_ = mount("wasp-test", folder.c_str(), "tmpfs", 0, "size=120k") == 0;
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    ~SmallDisk() {
        if (mounted_) umount(folder_.c_str());
    }
    bool mounted() const { return mounted_; }

private:
    std::filesystem::path folder_;
    bool mounted_;
};

// The results outgrow what may be written while the run goes on.
TEST(Failures, AFullDiskIsToldOnceAndEndsAllRanks) {
    const Scratch scratch;
    const Words words{"--epochs",       "150", "--protocol", "asp",
                      "--record-every", "1",   "--eval",     "none"};
    {
        const auto out = scratch / "limit.h5";
        ProcessSetup setup;
        setup.largest_file = 120000;
        const auto outcome =
            Process(wasp_words(short_training(out, words + Words{"--cluster", "threads:2"})), setup)
                .wait();
        EXPECT_EQ(not_refused(outcome, 1, "limit.h5"), "");
        EXPECT_EQ(read_results(out).status, "running");  // the last that fitted
    }
    const SmallDisk disk(scratch / "disk");
    if (!disk.mounted()) GTEST_SKIP() << "only root can mount a file system";
    const auto out = scratch / "disk" / "r.h5";
    Process process(mpi_words(3, short_training(out, words)));
    const auto outcome = process.wait();
    EXPECT_EQ(not_refused(outcome, 1, "r.h5"), "");
    EXPECT_TRUE(process.gone_within(5, "wasp"));
}

}  // namespace
}  // namespace wasp::test
