// What the presets are made of. Shares of the peak are those that `wasp bench step` measures of our
// kernels for that instruction set; jitter and spread are assumptions.
#include <array>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "cluster/sim.hpp"

namespace wasp {

namespace {

/// Two Xeon E5-2692 v2 a node, 12 cores of 2.2 GHz, 16 float32 operations a cycle; a rank a socket,
/// as jobs/tianhe2.sh starts them. Link: Dongarra, "Visit to the National University for Defense
/// Technology", 2013: MPI 6.36 GB/s, 9 µs for 1 kB across all nodes (2 µs for a message assumed).
/// Memory: four channels of DDR3-1866 a socket, of which 70 % are assumed to be reached.
Machine tianhe2() {
    return {.name = "tianhe2",
            .ranks_per_node = 2,
            .bandwidth = 6.36e9,
            .latency = 2e-6,
            .service = 1e-6,
            .interrupts = false,
            .counter = 3e-7,
            .copy = 15e9,
            .add = 12e9,
            .memory = 84e9,
            .flops = 12 * 2.2e9 * 16,
            .small_share = 0.3,
            .deep_share = 0.25,
            .jitter = 0.05,
            .spread = 0.02};
}

/// Two Xeon Gold 6148 a node, 20 cores with two AVX-512 units, 1.6 GHz under load of these (Intel's
/// specification update); a rank a socket. EDR InfiniBand: 12.1 GB/s and 1 µs between two ranks, as
/// the OSU benchmarks have it. Memory: six channels of DDR4-2666, 70 % assumed.
Machine xeon_infiniband() {
    return {.name = "xeon-ib",
            .ranks_per_node = 2,
            .bandwidth = 12.1e9,
            .latency = 1e-6,
            .service = 1e-6,
            .interrupts = false,
            .counter = 2e-7,
            .copy = 25e9,
            .add = 20e9,
            .memory = 180e9,
            .flops = 20 * 1.6e9 * 64,
            .small_share = 0.25,
            .deep_share = 0.5,
            .jitter = 0.05,
            .spread = 0.02};
}

/// Workstations of 8 cores with AVX2 (3 GHz, 32 operations a cycle) on 10-gigabit Ethernet by TCP,
/// a rank each. 25 µs a message: assumed.
Machine ethernet() {
    return {.name = "ethernet",
            .ranks_per_node = 1,
            .bandwidth = 1.15e9,
            .latency = 25e-6,
            .service = 5e-6,
            .interrupts = false,
            .counter = 2e-7,
            .copy = 12e9,
            .add = 10e9,
            .memory = 30e9,
            .flops = 8 * 3e9 * 32,
            .small_share = 0.35,
            .deep_share = 0.5,
            .jitter = 0.1,
            .spread = 0.05};
}

struct Preset {
    std::string_view name;
    Machine (*make)();
};
constexpr std::array presets{Preset{"tianhe2", tianhe2}, Preset{"xeon-ib", xeon_infiniband},
                             Preset{"ethernet", ethernet}};

}  // namespace

Machine machine_preset(std::string_view name) {
    std::vector<std::string_view> names;
    for (const auto& preset : presets) {
        if (preset.name == name) return preset.make();
        names.push_back(preset.name);
    }
    throw Error(ExitCode::usage, unknown_name("platform", name, names));
}

}  // namespace wasp
