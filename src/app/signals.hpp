/// SIGTERM, SIGINT and SIGUSR1 ask a run to stop; the second one ends the process at once.
#pragma once

#include <string_view>

namespace wasp {

void catch_stop_signals();

/// The signal that came; 0: none.
int stop_signal();

std::string_view signal_name(int signal);

}  // namespace wasp
