// From MPI_Init to MPI_Finalize, and how an error ends the job.
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <thread>

#include "base/error.hpp"
#include "base/failure.hpp"
#include "base/stopwatch.hpp"
#include "cluster/ending.hpp"
#include "cluster/launcher.hpp"
#include "mpi_cluster.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

constexpr const char* silent = "";  // the message of an error that another rank reports

/// A launcher that ends all when one ends (srun -K) would not let the first rank speak.
void wait_to_be_ended() {
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGTERM);
    sigprocmask(SIG_BLOCK, &ended, nullptr);
    constexpr timespec limit{2, 0};
    sigtimedwait(&ended, nullptr, &limit);
}

// A launcher of another kind than our MPI library's starts N jobs of one rank each: all would train
// alone, and write the same files. The first of them says so.
void refuse_single_ranks_of_a_larger_job() {
    int ranks = 0;
    mpi_check(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
    const auto launch = mismatched_launch(ranks);
    if (!launch) return;
    if (launch->rank != 0) {
        wait_to_be_ended();
        throw Error(ExitCode::usage, silent);
    }
    REQUIRE(false,
            "{0} programs of one rank were started instead of one program of {0} ranks "
            "({1}={0}): use srun --mpi=pmi2 (MPICH) or pmix (Open MPI), or the mpiexec of the MPI "
            "library this was built with",
            launch->ranks, launch->variable);
}

/// The end of all ranks together.
class Farewell {
public:
    Farewell() {
        mpi_check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
        mpi_check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
        mpi_check(MPI_Comm_size(comm_, &ranks_), "MPI_Comm_size");
    }
    Farewell(const Farewell&) = delete;
    Farewell& operator=(const Farewell&) = delete;
    ~Farewell() { MPI_Comm_free(&comm_); }

    /// Tell the others how I end, and wait for how they do: as long as check() lets me when all is
    /// well, else only for a moment: longer where another rank is to say why, before I end it.
    /// True when all ranks have come.
    bool meet(const std::optional<Error>& failure, bool speaks, bool left_behind,
              const std::function<void()>& check) {
        const double moment = speaks ? 1.5 : 2;  // seconds
        if (failure) {
            const auto hash =
                static_cast<std::int64_t>(std::hash<std::string_view>()(failure->what()) >> 1U);
            mine_[key] = failing_key(*failure);
            mine_[hash_up] = hash;
            mine_[hash_down] = -hash;
        }
        mine_[leftovers] = left_behind ? 1 : 0;
        const Stopwatch watch;
        MPI_Request request = MPI_REQUEST_NULL;
        mpi_check(MPI_Iallreduce(mine_.data(), all_.data(), static_cast<int>(mine_.size()),
                                 MPI_INT64_T, MPI_MAX, comm_, &request),
                  "MPI_Iallreduce");
        while (true) {
            int done = 0;
            mpi_check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (done != 0) return true;
            if (failure && watch.seconds() > moment) return false;
            if (!failure) check();
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
    }

    // Once all have met:
    bool all_failed_alike() const { return all_[hash_up] == -all_[hash_down]; }
    bool any_left_behind() const { return all_[leftovers] != 0; }
    /// Of the lowest rank that failed.
    int code() const { return static_cast<int>(all_[key] % code_limit); }

private:
    // What ranks tell one another; of each the largest counts.
    enum : std::size_t { key, hash_up, hash_down, leftovers, entries };
    static constexpr std::int64_t code_limit = 256;
    /// The larger, the lower the rank, and least where another one failed; 0 of one that did not.
    std::int64_t failing_key(const Error& failure) const {
        const auto code = static_cast<std::int64_t>(failure.code());
        const bool own = failure.what() != std::string_view(silent);
        return (own ? (ranks_ - rank_) * code_limit : 0) + code;
    }

    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0, ranks_ = 1;
    std::array<std::int64_t, entries> mine_{}, all_{};
};

void report(const Error& failure, bool of_all) {
    if (failure.what() == std::string_view(silent)) return;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (of_all && rank != 0) return;
    const auto whose = of_all ? "" : fmt::format("rank {} on {}: ", rank, mpi_host());
    fmt::print(stderr, "wasp: error: {}{}\n", whose, one_line(failure.what()));
}

/// Until the launcher has read our message from its pipe: what it has not read when a job is
/// aborted may be lost.
void drain_stderr() {
    constexpr int most_milliseconds = 1000;
    for (int i = 0; i < most_milliseconds; ++i) {
        int unread = 0;
        if (ioctl(STDERR_FILENO, FIONREAD, &unread) != 0 || unread == 0) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

/// Without the line that MPI would add to our message.
void abort_all(int code) {
    drain_stderr();
    [[maybe_unused]] const FILE* silenced = std::freopen("/dev/null", "w", stderr);
    MPI_Abort(MPI_COMM_WORLD, code);
}

/// work: makes the cluster, which outlives an error: others may still read its memory.
int run(const std::function<void(std::unique_ptr<MpiCluster>&)>& work) {
    Farewell farewell;
    std::unique_ptr<MpiCluster> cluster;
    bool first = true;  // of the ranks of this node that fail
    auto failure = failure_of([&] {
        try {
            work(cluster);
        } catch (const SharedError&) {
            throw;
        } catch (const OtherRankFailed& error) {
            throw Error(error.code(), silent);
        } catch (const std::exception&) {
            first = !cluster || cluster->announce_failure();
            throw;
        }
    });
    bool together = false;
    const auto missed_others = failure_of([&] {
        if (cluster) cluster->heartbeats().enter(Phase::ended);
        const bool speaks = failure && first && failure->what() != std::string_view(silent);
        together = farewell.meet(failure, speaks, cluster && cluster->left_behind(), [&] {
            if (cluster) cluster->check_alive_at_the_end();
        });
    });
    if (missed_others) {
        failure = missed_others;
        first = !cluster || cluster->announce_failure();
    }
    const bool alike = together && farewell.all_failed_alike();
    const bool speaks = first && !(cluster && cluster->another_node_speaks());
    if (failure && (alike || speaks)) report(*failure, alike);
    std::fflush(nullptr);
    if (!together || farewell.any_left_behind())
        abort_all(failure ? static_cast<int>(failure->code()) : farewell.code());
    return farewell.code();
}

/// From MPI_Init to MPI_Finalize.
int with_mpi(int* argc, char*** argv,
             const std::function<void(std::unique_ptr<MpiCluster>&)>& work) {
    setenv("MPIR_CVAR_SUPPRESS_ABORT_MESSAGE", "1", 0);  // our own message says more
    // Of Open MPI 4.1's ways for one-sided calls the one that makes windows of a single rank, too
    // (open-mpi/ompi#10726), and between nodes, and sends what it is told without a flush.
    setenv("OMPI_MCA_osc", "ucx", 0);
    int level = 0;
    mpi_check(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread");
    mpi_check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
              "MPI_Comm_set_errhandler");
    const int code = run(work);
    mpi_check(MPI_Finalize(), "MPI_Finalize");
    return code;
}

}  // namespace

int run_on_mpi(int* argc, char*** argv, const std::function<void(Cluster&)>& body) {
    return with_mpi(argc, argv, [&](std::unique_ptr<MpiCluster>& cluster) {
        int level = 0;
        mpi_check(MPI_Query_thread(&level), "MPI_Query_thread");
        ENSURE(level >= MPI_THREAD_FUNNELED, "MPI offers only thread level {}", level);
        refuse_single_ranks_of_a_larger_job();
        use_threads(1);
        cluster = std::make_unique<MpiCluster>();
        body(*cluster);
    });
}

bool mpi_was_started() {
    int started = 0;
    MPI_Initialized(&started);
    return started != 0;
}

int fail_on_mpi(int* argc, char*** argv, const Error& error) {
    return with_mpi(argc, argv, [&](std::unique_ptr<MpiCluster>& /*cluster*/) { throw error; });
}

}  // namespace wasp
