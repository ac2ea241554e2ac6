#include "protocols/protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/nearest.hpp"
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

ProtocolFacts facts_of(const ProtocolRow& row, const Settings& settings) {
    ProtocolFacts facts;
    facts.name = row.name;
    facts.shares_weights = row.shares_weights;
    facts.one_worker = row.one_worker;
    facts.server_momentum = row.server_momentum;
    facts.full_shards = settings.chosen("shards", "full");
    facts.own_initialisation = settings.chosen("init", "different");
    if (settings.has("servers")) facts.servers = static_cast<int>(settings.whole("servers"));
    return facts;
}

}  // namespace

Team ProtocolFacts::team(int rank, int ranks) const {
    REQUIRE(servers < ranks, "{}: {} servers leave no worker on {} ranks; use fewer servers", name,
            servers, ranks);
    REQUIRE(!one_worker || ranks == 1, "{} trains on one rank, got {}; use another protocol", name,
            ranks);
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
    return row.make(settings, setup, team);
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
