#include "mpi_check.hpp"

#include <array>

#include "base/error.hpp"

namespace wasp {

void mpi_check(int code, std::string_view call) {
    if (code == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw Error(ExitCode::fault,
                fmt::format("{}: {}", call,
                            std::string_view(text.data(), static_cast<std::size_t>(length))));
}

void mpi_wait(Cluster& cluster, MPI_Request& request, std::string_view whom) {
    wait_until(
        cluster,
        [&] {
            int done = 0;
            mpi_check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
            return done != 0;
        },
        [&] { return std::string(whom); });
}

std::string mpi_host() {
    std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
    int length = 0;
    mpi_check(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
    return {name.data(), static_cast<std::size_t>(length)};
}

}  // namespace wasp
