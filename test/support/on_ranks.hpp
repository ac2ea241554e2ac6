/// Tests of what stands on the seam run on ranks that are threads, and again under mpiexec
/// (--ranks=mpi). They are in suites whose names start with "Ranks".
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>

#include "cluster/cluster.hpp"

namespace wasp::test {

/// The MPI cluster of this process; null where ranks are threads.
extern Cluster* world;

/// Run `body` on every rank: with threads for each of `sizes` in turn; under mpiexec when its size
/// is among them.
void on_ranks(std::initializer_list<int> sizes, const std::function<void(Cluster&)>& body);

}  // namespace wasp::test
