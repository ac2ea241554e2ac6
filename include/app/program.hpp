/// bin/wasp.
#pragma once

namespace wasp {

/// Do what the command line says; returns the exit code.
int run_program(int argc, char** argv);

}  // namespace wasp
