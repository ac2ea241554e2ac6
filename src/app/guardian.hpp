/// A process beside the one that writes the results. When that one ends without having said how, by
/// kill -9, a crash, or a launcher that ends all ranks as one of them died, it gives the results
/// the status "failed". Started before MPI, which does not go with forks; ends with the run.
#pragma once

#include <filesystem>

#include <sys/types.h>

namespace wasp {

class Guardian {
public:
    /// Where no process can be started there is none.
    Guardian();
    Guardian(const Guardian&) = delete;
    Guardian& operator=(const Guardian&) = delete;
    ~Guardian();  ///< the results say how the run ended

    /// Of this run.
    void watch(const std::filesystem::path& results) const;

private:
    void tell(const void* bytes, std::size_t count) const;

    int pipe_ = -1;
    pid_t process_ = -1;
};

}  // namespace wasp
