#include <fmt/format.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <variant>

#include "base/error.hpp"
#include "base/free_memory.hpp"
#include "examination.hpp"
#include "report/provenance.hpp"
#include "tensor/convolution_operator.hpp"
#include "tensor/kernels.hpp"
#include "topology.hpp"

namespace wasp {

namespace {

constexpr double gigabyte = 1e9;

/// Of the extensions that our kernels or the libraries' can use, those the CPU has.
std::string cpu_features() {
    std::ifstream lines("/proc/cpuinfo");
    std::string line, found;
    while (std::getline(lines, line) && !line.starts_with("flags")) {
    }
    std::istringstream flags(line);
    for (std::string flag; flags >> flag;)
        for (const char* known : {"avx", "fma", "avx2", "avx512f", "avx512_bf16", "amx_bf16"})
            if (flag == known) found += (found.empty() ? "" : " ") + flag;
    return found.empty() ? "no AVX" : found;
}

std::string convolution_engine(const Kernels& best) {
    const auto libraries = convolution_libraries(best, Precision::float32);
    return make_convolution_engine(libraries.front(), best, Precision::float32)->name();
}

std::string topology() {
    const Topology machine = load_topology();
    const auto count = [&](hwloc_obj_type_t type) {
        return hwloc_get_nbobjs_by_type(machine.get(), type);
    };
    return fmt::format("{} socket(s), {} NUMA node(s), {} core(s), {} hardware thread(s)",
                       count(HWLOC_OBJ_PACKAGE), count(HWLOC_OBJ_NUMANODE), count(HWLOC_OBJ_CORE),
                       count(HWLOC_OBJ_PU));
}

void look_at_memory(Examination& result) {
    struct statvfs shared {};
    double size = 0, free = 0;  // gigabytes
    if (statvfs("/dev/shm", &shared) == 0) {
        size =
            static_cast<double>(shared.f_frsize) * static_cast<double>(shared.f_blocks) / gigabyte;
        free =
            static_cast<double>(shared.f_frsize) * static_cast<double>(shared.f_bavail) / gigabyte;
    }
    const auto left = free_memory();
    result.seen.push_back(fmt::format(
        "memory: {}; /dev/shm {:.2f} GB, of which {:.2f} GB free",
        left ? fmt::format("{:.1f} GB free", static_cast<double>(*left) / gigabyte) : "unknown",
        size, free));
    constexpr double little = 0.1;
    if (free < little)
        result.advice.push_back(fmt::format(
            "/dev/shm has only {:.2f} GB free, and the ranks of a node share weights and "
            "images there: containers want --shm-size",
            free));
}

void look_at_limits(Examination& result) {
    struct Limit {
        const char* name;
        decltype(RLIMIT_AS) resource;
    };
    std::string text = "limits:";
    rlim_t address_space = RLIM_INFINITY;
    for (const auto& [name, resource] :
         {Limit{"address space", RLIMIT_AS}, Limit{"locked memory", RLIMIT_MEMLOCK},
          Limit{"file size", RLIMIT_FSIZE}, Limit{"open files", RLIMIT_NOFILE}}) {
        rlimit limit{};
        if (getrlimit(resource, &limit) != 0) continue;
        if (resource == RLIMIT_AS) address_space = limit.rlim_cur;
        text += fmt::format(
            "{} {} {}", text.ends_with(":") ? "" : ",", name,
            limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur));
    }
    result.seen.push_back(text);
    if (address_space != RLIM_INFINITY)
        result.advice.emplace_back(
            "the address space is limited (ulimit -v), which counts memory that is never used: "
            "limit the control group instead");
}

/// Locks of a whole file, as HDF5 takes them.
void look_at_folder(const std::filesystem::path& folder, Examination& result) {
    auto name = (folder / ".wasp-doctor-XXXXXX").string();
    const int file = mkstemp(name.data());
    if (file < 0) {
        result.bad.push_back(fmt::format("'{}': no file can be made there: {}", folder.string(),
                                         std::generic_category().message(errno)));
        return;
    }
    const bool locks = flock(file, LOCK_EX | LOCK_NB) == 0;
    close(file);
    unlink(name.c_str());
    result.seen.push_back(
        fmt::format("results in '{}': can be written, {}", folder.string(),
                    locks ? "file locks work" : "no file locks, which are done without"));
}

}  // namespace

Examination examine_node(const std::filesystem::path& folder) {
    Examination result;
    const Kernels& best = kernels();
    result.seen.push_back(fmt::format("processor: {} ({})",
                                      std::get<std::string>(provenance({}).at("cpu_model")),
                                      cpu_features()));
    result.seen.push_back(fmt::format("kernels: our own for {}; convolutions of ResNets by {}",
                                      best.name, convolution_engine(best)));
    result.seen.push_back("topology: " + topology());
    look_at_memory(result);
    look_at_limits(result);
    look_at_folder(folder, result);
    return result;
}

}  // namespace wasp
