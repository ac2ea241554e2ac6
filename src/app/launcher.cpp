#include "launcher.hpp"

#include <cstdlib>
#include <initializer_list>

namespace wasp {

namespace {

int first_of(std::initializer_list<const char*> names, int fallback) {
    for (const char* name : names)
        if (const char* value = std::getenv(name)) return std::atoi(value);
    return fallback;
}

}  // namespace

int launched_rank() {
    return first_of({"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}, 0);
}

int launched_ranks() {
    return first_of({"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}, 1);
}

}  // namespace wasp
