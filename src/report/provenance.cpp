#include "report/provenance.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <set>

#include "base/error.hpp"
#include "h5/library.hpp"

// Given by the Makefile.
#ifndef BUILD_FLAGS
#define BUILD_FLAGS "unknown"
#endif
#ifndef GIT_COMMIT
#define GIT_COMMIT "unknown"
#endif

namespace wasp {
namespace {

std::vector<int> bound_cpu_numbers() {
    constexpr int most = 4096;  // CPUs that Linux may be built for
    cpu_set_t* set = CPU_ALLOC(most);
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    std::vector<int> numbers;
    if (set != nullptr && sched_getaffinity(0, bytes, set) == 0)
        for (int cpu = 0; cpu < most; ++cpu)
            if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set)) numbers.push_back(cpu);
    CPU_FREE(set);
    return numbers;
}

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// The value of the first line "key : value" of a file of /proc.
std::string proc_value(const char* file, std::string_view key) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        const auto colon = line.find(':');
        if (!line.starts_with(key) || colon == std::string::npos) continue;
        const auto start = line.find_first_not_of(" \t", colon + 1);
        return start == std::string::npos ? "" : line.substr(start);
    }
    return "unknown";
}

std::string time_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    const auto length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return {text.data(), length};
}

std::string operating_system() {
    utsname names{};
    ENSURE(uname(&names) == 0, "the system does not tell its name");
    return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

void add_ranks(Attributes& attributes, const std::vector<RankRow>& ranks) {
    std::set<int> nodes;
    std::string hosts, binding;
    for (const auto& rank : ranks) {
        if (nodes.insert(rank.node).second) hosts += (hosts.empty() ? "" : ",") + rank.host;
        binding += (binding.empty() ? "" : ";") + rank.cpus;
    }
    attributes["hosts"] = hosts;
    attributes["nodes"] = static_cast<std::int64_t>(nodes.size());
    attributes["ranks"] = static_cast<std::int64_t>(ranks.size());
    attributes["threads_per_rank"] = std::int64_t{ranks.empty() ? 0 : ranks.front().threads};
    attributes["binding"] = binding;
}

void add_slurm(Attributes& attributes) {
    for (const auto& [name, variable] : {std::pair{"slurm_job_id", "SLURM_JOB_ID"},
                                         {"slurm_partition", "SLURM_JOB_PARTITION"},
                                         {"slurm_nodelist", "SLURM_JOB_NODELIST"}})
        attributes[name] = environment(variable);
}

}  // namespace

std::string bound_cpus() {
    const auto numbers = bound_cpu_numbers();
    std::string list;
    for (std::size_t first = 0; first < numbers.size();) {
        std::size_t last = first;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        list += fmt::format("{}{}", list.empty() ? "" : ",", numbers[first]);
        if (last > first) list += fmt::format("-{}", numbers[last]);
        first = last + 1;
    }
    return list;
}

int bound_socket() {
    std::set<int> sockets;
    for (const int cpu : bound_cpu_numbers()) {
        std::ifstream file(
            fmt::format("/sys/devices/system/cpu/cpu{}/topology/physical_package_id", cpu));
        int socket = -1;
        file >> socket;
        sockets.insert(file ? socket : -1);
    }
    return sockets.size() == 1 ? *sockets.begin() : -1;
}

Attributes provenance(const RunFacts& facts) {
    Attributes attributes{{"start_time", time_now()},
                          {"git_commit", std::string(GIT_COMMIT)},
                          {"build_flags", std::string(BUILD_FLAGS)},
                          {"compiler", std::string("g++ " __VERSION__)},
                          {"cluster", facts.cluster},
                          {"kernels", facts.kernels},
                          {"hdf5", h5::library_version()},
                          {"cpu_model", proc_value("/proc/cpuinfo", "model name")},
                          {"memory", proc_value("/proc/meminfo", "MemTotal")},
                          {"operating_system", operating_system()},
                          {"seed", facts.seed},
                          {"dataset", facts.dataset},
                          {"dataset_sha256", facts.dataset_sha256}};
    add_ranks(attributes, facts.ranks);
    add_slurm(attributes);
    return attributes;
}

}  // namespace wasp
