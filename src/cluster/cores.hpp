/// How ranks that wait treat the cores they share.
#pragma once

namespace wasp {

/// Cores that this process may run on.
int usable_cores();

/// One turn of a wait that has lasted `waited_seconds`. crowded: more ranks than cores.
void take_turns(bool crowded, double waited_seconds);

}  // namespace wasp
