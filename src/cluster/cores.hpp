/// How ranks that wait treat the cores they share.
#pragma once

#include <array>
#include <cstdint>

namespace wasp {

/// Cores that this process may run on, a bit each.
using CoreSet = std::array<std::uint64_t, 16>;
CoreSet usable_cores();
int count(const CoreSet& cores);

/// One turn of a wait that has lasted `waited_seconds`. crowded: more ranks than cores.
void take_turns(bool crowded, double waited_seconds);

}  // namespace wasp
