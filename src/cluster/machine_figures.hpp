/// The figures of a Machine that SimGrid's own attributes of a platform do not say.
#pragma once

#include <array>
#include <string_view>

#include "cluster/sim.hpp"

namespace wasp {

struct MachineFigure {
    std::string_view name;
    double Machine::*value;
    std::string_view meaning;
};

inline constexpr std::array machine_figures{
    MachineFigure{"service", &Machine::service, "s of an owner, to serve a message"},
    MachineFigure{"counter", &Machine::counter, "s, an operation on a counter of the node"},
    MachineFigure{"copy", &Machine::copy, "bytes/s of a rank that pulls"},
    MachineFigure{"add", &Machine::add, "bytes/s of a rank that pushes"},
    MachineFigure{"memory", &Machine::memory, "bytes/s of all ranks of a node"},
    MachineFigure{"small-share", &Machine::small_share, "of the peak, in a step of a LeNet"},
    MachineFigure{"deep-share", &Machine::deep_share, "of the peak, in a step of a ResNet"},
    MachineFigure{"jitter", &Machine::jitter, "of a step: standard deviation over mean"},
    MachineFigure{"spread", &Machine::spread, "of the speeds of nodes: likewise"}};

}  // namespace wasp
