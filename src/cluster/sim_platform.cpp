#include "base/error.hpp"
#include "base/spec.hpp"
#include "machine_figures.hpp"
#include "sim_engine.hpp"

namespace wasp {

namespace {

namespace s4u = simgrid::s4u;

double property(const s4u::Host& host, const std::string& path, std::string_view name) {
    const char* const text = host.get_property(std::string(name));
    REQUIRE(text != nullptr,
            "{}: host {} has no property '{}'; `wasp predict platform` writes what is needed", path,
            host.get_name(), name);
    const auto value = parse_number(text);
    REQUIRE(value && *value >= 0, "{}: host {}: property '{}' is '{}', not a number", path,
            host.get_name(), name, text);
    return *value;
}

/// Of the way from one node to another.
void read_links(Machine& machine, const s4u::Host& from, const s4u::Host& to) {
    std::vector<s4u::Link*> links;
    from.route_to(&to, links, &machine.latency);
    for (const auto* const link : links)
        if (machine.bandwidth == 0 || link->get_bandwidth() < machine.bandwidth)
            machine.bandwidth = link->get_bandwidth();
}

}  // namespace

Machine read_platform(const std::string& path) {
    Machine machine;
    try {
        const auto hosts = sim_engine(path).get_all_hosts();
        REQUIRE(!hosts.empty(), "{}: has no hosts", path);
        const s4u::Host& host = *hosts.front();
        machine.name = path;
        machine.nodes = static_cast<int>(hosts.size());
        machine.ranks_per_node = host.get_core_count();
        machine.flops = host.get_speed();
        for (const auto& one : machine_figures) machine.*one.value = property(host, path, one.name);
        machine.interrupts = property(host, path, "interrupts") > 0;
        if (hosts.size() > 1) read_links(machine, host, *hosts[1]);
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        throw Error(ExitCode::usage, fmt::format("{}: {}", path, error.what()));
    }
    return machine;
}

}  // namespace wasp
