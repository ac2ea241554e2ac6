#include "protocols/protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "node_sum.hpp"
#include "table.hpp"

namespace wasp {

namespace {

constexpr std::array rows{&serial_row,   &bsp_row,      &backup_row,   &asp_row,    &downpour_row,
                          &ssp_row,      &softsync_row, &consgd_row,   &dynsgd_row, &dcasgd_row,
                          &gapaware_row, &wasp_row,     &localsgd_row, &slowmo_row, &bmuf_row,
                          &easgd_row,    &eamsgd_row,   &nosync_row,   &dpsgd_row,  &adpsgd_row,
                          &sgp_row,      &lsgd_row};

const ProtocolRow& row_of(std::string_view spec) {
    const std::string name = Spec(spec).name();
    std::vector<std::string_view> known;
    for (const ProtocolRow* row : rows) {
        if (row->name == name) return *row;
        known.push_back(row->name);
    }
    throw Error(ExitCode::usage, unknown_name("protocol", name, known));
}

void check_inner(ProtocolFacts& facts, const Settings& settings) {
    const auto inner = protocol_facts(inner_spec(settings.text("inner")));
    REQUIRE(
        inner.shares_weights && inner.servers == 0,
        "{}: inner={} can't train one model in a group; give a protocol with shared weights, and "
        "no servers",
        facts.name, settings.text("inner"));
    REQUIRE(!settings.chosen("apply", "velocity"),
            "{}: apply=velocity has no meaning with groups; leave one out", facts.name);
    facts.server_momentum = inner.server_momentum;
    // Groups have their places at different steps.
    facts.can_pause = inner.stands_between_steps;
}

ProtocolFacts facts_of(const ProtocolRow& row, const Settings& settings) {
    ProtocolFacts facts;
    facts.name = row.name;
    facts.shares_weights = row.shares_weights;
    facts.one_worker = row.one_worker;
    facts.server_momentum = row.server_momentum;
    facts.overlaps = row.overlaps && !settings.chosen("node_sum", "on");
    facts.compresses = row.compresses;
    facts.stands_between_steps =
        row.stands_between_steps && !settings.chosen("trigger", "versions");
    facts.full_shards = settings.chosen("shards", "full");
    facts.own_initialisation = settings.chosen("init", "different");
    facts.has_store = settings.has(servers_key.name);
    if (facts.has_store) facts.servers = static_cast<int>(settings.whole("servers"));
    if (settings.has("groups")) facts.groups = static_cast<int>(settings.whole("groups"));
    REQUIRE(facts.servers == 0 || !settings.chosen("node_sum", "on"),
            "{}: node_sum=on and servers contradict each other; leave one out", row.name);
    if (facts.groups > 0) check_inner(facts, settings);
    return facts;
}

}  // namespace

Team ProtocolFacts::team(int rank, int ranks) const {
    REQUIRE(servers < ranks, "{}: {} servers leave no worker on {} ranks; use fewer servers", name,
            servers, ranks);
    REQUIRE(!one_worker || ranks == 1, "{} trains on one rank, got {}; use another protocol", name,
            ranks);
    REQUIRE(groups == 0 || ranks % groups == 0, "{}: {} ranks can't be {} groups of as many each",
            name, ranks, groups);
    Team team;
    team.workers = ranks - servers;
    if (rank >= servers) team.worker = rank - servers;
    return team;
}

ProtocolFacts protocol_facts(std::string_view spec) {
    const ProtocolRow& row = row_of(spec);
    return facts_of(row, Settings(spec, row.keys()));
}

std::unique_ptr<Protocol> make_protocol(std::string_view spec, const ProtocolSetup& setup) {
    const ProtocolRow& row = row_of(spec);
    const Settings settings(spec, row.keys());
    const Team team = facts_of(row, settings).team(setup.cluster.rank(), setup.cluster.size());
    const auto make = [&](const ProtocolSetup& among, const Team& workers) {
        return row.make(settings, among, workers);
    };
    return settings.chosen("node_sum", "on") ? sum_within_nodes(setup, make) : make(setup, team);
}

std::string inner_spec(std::string text) {
    std::ranges::replace(text, '+', ',');
    return text;
}

std::string protocol_help() {
    std::string text =
        "A protocol is given as NAME or NAME:key=value,key=value,…\n"
        "P: workers; s: staleness, the updates of others between pull and push.\n";
    for (const ProtocolRow* row : rows)
        text += fmt::format("\n{:<10} {}\n{:10} Source: {}\n{}", row->name, row->rule, "",
                            row->source, describe(row->keys(), 11));
    return text;
}

}  // namespace wasp
