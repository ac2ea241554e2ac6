/// What the tests were started with.
#pragma once

#include <string>

namespace wasp::test {

struct Options {
    std::string wasp = "bin/wasp", mpiexec = "mpiexec.mpich", python = "/usr/bin/python3";
};

extern Options options;

}  // namespace wasp::test
