#include "cluster/launcher.hpp"

#include <array>
#include <cstdlib>

namespace wasp {

namespace {

struct Launcher {
    const char *ranks, *rank;  // names of variables
};

// The first that a process has is its own launcher's: inside an allocation mpiexec comes before
// Slurm.
constexpr std::array launchers{
    Launcher{"PMI_SIZE", "PMI_RANK"}, Launcher{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    Launcher{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}, Launcher{"", "PMIX_RANK"}};

int number(const char* name, int fallback) {
    const char* text = std::getenv(name);
    return text == nullptr ? fallback : std::atoi(text);
}

}  // namespace

int launched_rank() {
    for (const auto& launcher : launchers)
        if (const int rank = number(launcher.rank, -1); rank >= 0) return rank;
    return 0;
}

int launched_ranks() {
    for (const auto& launcher : launchers)
        if (const int ranks = number(launcher.ranks, 0); ranks > 0) return ranks;
    return 1;
}

std::optional<MismatchedLaunch> mismatched_launch(int ranks_in_mpi) {
    if (ranks_in_mpi > 1) return std::nullopt;
    for (const auto& launcher : launchers)
        if (const int ranks = number(launcher.ranks, 0); ranks > 1)
            return MismatchedLaunch{number(launcher.rank, 0), ranks, launcher.ranks};
    return std::nullopt;
}

}  // namespace wasp
