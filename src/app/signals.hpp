/// SIGTERM, SIGINT, SIGHUP, SIGUSR1 and SIGUSR2 ask a run to stop; the second one ends the process
/// at once.
#pragma once

#include <string_view>

namespace wasp {

/// At the start of the program: a file that grows beyond its limit fails as on a full disk, instead
/// of ending the program.
void expect_limits();

/// Before the run starts. Who reads the output may leave: the run goes on.
void outlive_terminal();

/// Before MPI starts, as a requeued job may be asked to stop at once; and after that, as a library
/// that MPI brings along takes SIGHUP. That stays ignored where it was (nohup).
void catch_stop_signals();

/// The signal that came; 0: none.
int stop_signal();

std::string_view signal_name(int signal);

}  // namespace wasp
