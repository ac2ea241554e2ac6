/// How ranks end that fail.
#pragma once

#include "base/error.hpp"

namespace wasp {

/// What all ranks throw together: the error of collectively().
class SharedError : public Error {
public:
    using Error::Error;
};

/// What a rank is stopped with when another one failed, which says why.
class OtherRankFailed : public Error {
public:
    OtherRankFailed() : Error(ExitCode::fault, "another rank failed") {}
};

/// As run_on_mpi(), for a rank that failed before: the others, who wait for it in MPI_Init, hear of
/// it and end.
int fail_on_mpi(int* argc, char*** argv, const Error& error);

/// In this process, whether or not it is over.
bool mpi_was_started();

}  // namespace wasp
