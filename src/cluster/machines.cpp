// What the presets are made of. Shares of the peak, jitter and spread are assumptions: nothing was
// measured on such machines.
#include <array>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "cluster/sim.hpp"
#include "machine_figures.hpp"

namespace wasp {

namespace {

Machine tianhe2() {
    return {
        .name = "tianhe2",
        .sources =
            "Two Xeon E5-2692 v2 a node, 12 cores of 2.2 GHz, 16 float32 operations a cycle; a "
            "rank a socket, "
            "as jobs/tianhe2.sh starts them. Link: Dongarra, \"Visit to the National University "
            "for Defense "
            "Technology\", 2013: MPI 6.36 GB/s, 9 µs for 1 kB across all nodes (2 µs for a message "
            "assumed). "
            "Memory: four channels of DDR3-1866 a socket, of which 70 % are assumed to be reached.",
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

Machine xeon_infiniband() {
    return {.name = "xeon-ib",
            .sources =
                "Two Xeon Gold 6148 a node, 20 cores with two AVX-512 units, 1.6 GHz under load of "
                "these (Intel's "
                "specification update); a rank a socket. EDR InfiniBand: 12.1 GB/s and 1 µs "
                "between two ranks, as "
                "the OSU benchmarks have it. Memory: six channels of DDR4-2666, 70 % assumed.",
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

Machine ethernet() {
    return {.name = "ethernet",
            .sources =
                "Workstations of 8 cores with AVX2 (3 GHz, 32 operations a cycle) on 10-gigabit "
                "Ethernet by TCP, "
                "a rank each. 25 µs a message: assumed.",
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

std::string figure(double value) {
    return fmt::format("{:.6g}", value);
}

}  // namespace

Machine machine_preset(std::string_view name) {
    std::vector<std::string_view> names;
    for (const auto& preset : presets) {
        if (preset.name == name) return preset.make();
        names.push_back(preset.name);
    }
    throw Error(ExitCode::usage, unknown_name("platform", name, names));
}

std::string platform_xml(const Machine& machine) {
    std::string text =
        "<?xml version='1.0'?>\n"
        "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n";
    text += fmt::format("<!-- For wasp train, cluster sim:FILE.xml,ranks=N.\n     {}\n",
                        machine.sources);
    for (const auto& one : machine_figures)
        text += fmt::format("     {}: {}.\n", one.name, one.meaning);
    text +=
        "     interrupts: 1 where a computing owner serves others at once, 0 between layers. -->\n";
    // A route between hosts of a cluster has a link of each.
    text += fmt::format(
        "<platform version=\"4.1\">\n"
        "  <cluster id=\"{}\" prefix=\"node\" suffix=\"\" radical=\"0-{}\" speed=\"{}f\" "
        "core=\"{}\" bw=\"{}Bps\" lat=\"{}s\">\n",
        machine.name, machine.nodes - 1, figure(machine.flops), machine.ranks_per_node,
        figure(machine.bandwidth), figure(machine.latency / 2));
    for (const auto& one : machine_figures)
        text += fmt::format("    <prop id=\"{}\" value=\"{}\"/>\n", one.name,
                            figure(machine.*one.value));
    text += fmt::format("    <prop id=\"interrupts\" value=\"{}\"/>\n", machine.interrupts ? 1 : 0);
    return text + "  </cluster>\n</platform>\n";
}

std::string to_text(const SimOptions& options) {
    const Machine& machine = options.machine;
    std::string text = fmt::format(
        "start={} image={} pauses={} pause={} polls={} flops={} ranks-per-node={} bandwidth={} "
        "latency={} "
        "interrupts={}",
        figure(options.compute.start), figure(options.compute.image),
        figure(options.compute.pauses), figure(options.compute.pause), options.compute.polls,
        figure(machine.flops), machine.ranks_per_node, figure(machine.bandwidth),
        figure(machine.latency), machine.interrupts ? 1 : 0);
    for (const auto& one : machine_figures)
        text += fmt::format(" {}={}", one.name, figure(machine.*one.value));
    if (options.weights_per_float > 1)
        text += fmt::format(" weights-per-float={}", options.weights_per_float);
    return text;
}

}  // namespace wasp
