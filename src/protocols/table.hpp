/// What the table of protocols is made of. Each protocol defines its row in its own file.
#pragma once

#include <array>
#include <memory>
#include <string>
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
    bool overlaps = false;
    bool compresses = false;
    bool stands_between_steps = true;  ///< see ProtocolFacts; with trigger=versions none does
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

/// The value of a key "inner" as a spec: it has + where a spec has commas.
std::string inner_spec(std::string text);

/// The key of all protocols that keep their weights in a store.
inline constexpr Key servers_key{
    .name = "servers",
    .fallback = "0",
    .high = 1'000'000,
    .meaning = "ranks that hold the weights and do not train; 0: every rank holds a part"};

inline constexpr std::array node_sums{
    Choice{"off", "every rank is a worker"},
    Choice{"on", "a node is one: its ranks keep pace, and one pushes their mean gradient"}};

/// The key of protocols whose nodes can act as one worker.
inline constexpr Key node_sum_key{.name = "node_sum",
                                  .kind = Key::Kind::choice,
                                  .fallback = "off",
                                  .choices = node_sums,
                                  .meaning = "who is a worker:"};

}  // namespace wasp
