// usage: tests [--wasp=PROGRAM] [--mpiexec=…] [--python=…] [--samples=FOLDER] [--gtest_…]
//        mpiexec -n N tests --ranks=mpi     the suites Ranks*, on these N ranks
//        tests --ranks=sim                  the same in virtual time
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "cluster/sim.hpp"
#include "support/on_ranks.hpp"
#include "support/options.hpp"

namespace wasp::test {

Cluster* world = nullptr;
bool in_virtual_time = false;
Options options;

void on_ranks(std::initializer_list<int> sizes, const std::function<void(Cluster&)>& body) {
#ifdef HAVE_SIMGRID
    if (in_virtual_time) {
        SimOptions machine{.machine = machine_preset("tianhe2"), .compute = {.start = 1e-3}};
        for (const int ranks : sizes) {
            machine.ranks = ranks;
            run_on_sim(machine, body);
        }
        return;
    }
#endif
    if (world == nullptr) {
        for (const int ranks : sizes) run_on_threads(ranks, body);
        return;
    }
    if (std::ranges::find(sizes, world->size()) == sizes.end())
        GTEST_SKIP() << "not for " << world->size() << " ranks";
    body(*world);
    world->barrier();
}

}  // namespace wasp::test

namespace {

/// Of the ranks above 0 only the failures are printed.
class FailuresOf : public testing::EmptyTestEventListener {
public:
    explicit FailuresOf(int rank) : rank_(rank) {}
    void OnTestPartResult(const testing::TestPartResult& result) override {
        if (result.failed())
            fmt::print("rank {}: {}:{}: {}\n", rank_, result.file_name(), result.line_number(),
                       result.message());
    }

private:
    int rank_;
};

void choose_suites_of_ranks() {
    auto& filter = testing::GTEST_FLAG(filter);
    if (filter == "*") filter.clear();
    if (filter.empty() || filter.starts_with("-")) filter = "Ranks*" + filter;
}

int run_under_mpi(int argc, char** argv) {
    int failed = 0;
    const int code = wasp::run_on_mpi(&argc, &argv, [&](wasp::Cluster& cluster) {
        wasp::test::world = &cluster;
        auto& listeners = testing::UnitTest::GetInstance()->listeners();
        if (cluster.rank() != 0) {
            delete listeners.Release(listeners.default_result_printer());
            listeners.Append(new FailuresOf(cluster.rank()));
        }
        choose_suites_of_ranks();
        failed = RUN_ALL_TESTS();
    });
    return std::max(code, failed);
}

}  // namespace

/// Read by the address sanitizer: libhdf5 1.10 itself forgets memory when a file turns out damaged.
extern "C" const char* __lsan_default_suppressions() {
    return "leak:libhdf5";
}

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    bool mpi = false;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        const auto value = std::string(word.substr(word.find('=') + 1));
        if (word == "--ranks=mpi") mpi = true;
        if (word == "--ranks=sim") {
#ifdef HAVE_SIMGRID
            wasp::test::in_virtual_time = true;
#else
            return 2;
#endif
        }
        if (word.starts_with("--wasp=")) wasp::test::options.wasp = value;
        if (word.starts_with("--mpiexec=")) wasp::test::options.mpiexec = value;
        if (word.starts_with("--python=")) wasp::test::options.python = value;
        if (word.starts_with("--samples=")) wasp::test::options.samples = value;
    }
    if (mpi) return run_under_mpi(argc, argv);
    if (wasp::test::in_virtual_time) choose_suites_of_ranks();
    // MPI's plug-ins leak, and are unloaded before the address sanitizer could tell them from us:
    // only this process looks for leaks, not the programs that it starts.
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    return RUN_ALL_TESTS();
}
