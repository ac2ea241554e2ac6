/// What the tests were started with.
#pragma once

#include <string>

namespace wasp::test {

struct Options {
    std::string wasp = "bin/wasp", mpiexec = "mpiexec.mpich", python = "/usr/bin/python3";
    std::string samples;  ///< folder with data files of other programs; empty: none
};

extern Options options;

}  // namespace wasp::test
