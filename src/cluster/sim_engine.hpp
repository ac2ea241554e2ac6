/// SimGrid, of which a process has one.
#pragma once

#include <simgrid/s4u.hpp>
#include <string>

namespace wasp {

/// Made at the first call, with the platform of a file or, if there is none, one of one host.
simgrid::s4u::Engine& sim_engine(const std::string& platform = {});

/// Where the actors are.
simgrid::s4u::Host* sim_host();

}  // namespace wasp
