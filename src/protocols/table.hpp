/// What the table of protocols is made of. Each protocol defines its row in its own file.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "protocols/protocol.hpp"
#include "settings.hpp"

namespace wasp {

struct ProtocolRow {
    std::string_view name, rule, source;
    bool shares_weights = true;
    bool one_worker = false;
    bool server_momentum = false;
    std::vector<Key> (*keys)();
    std::unique_ptr<Protocol> (*make)(const Settings& settings, const ProtocolSetup& setup,
                                      const Team& team);
};

// Shared weights.
extern const ProtocolRow serial_row, bsp_row, backup_row, asp_row, downpour_row, ssp_row,
    softsync_row, consgd_row, dynsgd_row, dcasgd_row, gapaware_row, wasp_row;
// Own weights that are averaged, or tied to a centre.
extern const ProtocolRow localsgd_row, slowmo_row, bmuf_row, easgd_row, eamsgd_row;
// Own weights.
extern const ProtocolRow nosync_row, dpsgd_row, adpsgd_row, sgp_row, lsgd_row;

/// The key of all protocols that keep their weights in a store.
inline constexpr Key servers_key{
    .name = "servers",
    .fallback = "0",
    .high = 1'000'000,
    .meaning = "ranks that hold the weights and do not train; 0: every rank holds a part"};

}  // namespace wasp
