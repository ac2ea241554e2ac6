/// How ranks that wait treat the cores they share.
#pragma once

#include <array>
#include <cstdint>

namespace wasp {

/// Cores that this process may run on, a bit each.
using CoreSet = std::array<std::uint64_t, 16>;
CoreSet usable_cores();
int count(const CoreSet& cores);

/// One turn of a wait that has lasted `waited_seconds`, among `ranks` that share `cores`.
void take_turns(int ranks, int cores, double waited_seconds);

}  // namespace wasp
