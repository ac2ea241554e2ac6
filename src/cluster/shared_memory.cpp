#include "shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "base/error.hpp"

namespace wasp {

namespace {

constexpr std::size_t page = 4096;

std::size_t whole_pages(std::size_t bytes) {
    return (bytes + page - 1) / page * page;
}

double mebibytes(std::size_t bytes) {
    return static_cast<double>(bytes) / (1 << 20U);
}

std::string name_of(std::uint64_t token) {
    return fmt::format("/wasp-{:016x}", token);
}

std::uint64_t random_token() {
    std::random_device source;
    return (static_cast<std::uint64_t>(source()) << 32U) | source();
}

}  // namespace

std::string SharedMemory::unique_name() {
    return name_of(random_token());
}

SharedMemory::SharedMemory(const std::string& name, std::size_t bytes, bool create)
    : name_(name), size_(whole_pages(bytes)) {
    if (size_ == 0) return;
    file_ = shm_open(name.c_str(), create ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, 0600);
    ENSURE(file_ >= 0, "/dev/shm{}: {}: the ranks of a node need /dev/shm in common", name,
           std::strerror(errno));
    const bool long_enough = !create || ftruncate(file_, static_cast<off_t>(size_)) == 0;
    void* start = long_enough ? mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0)
                              : MAP_FAILED;
    if (start == MAP_FAILED) {
        const int reason = errno;
        close(file_);
        if (create) shm_unlink(name.c_str());
        throw Error(ExitCode::fault, fmt::format("/dev/shm{}: {:.1f} MiB: {}", name,
                                                 mebibytes(size_), std::strerror(reason)));
    }
    start_ = static_cast<std::byte*>(start);
    linked_ = create;
}

SharedMemory::~SharedMemory() {
    if (size_ == 0) return;
    unlink();
    munmap(start_, size_);
    close(file_);
}

void SharedMemory::reserve(std::size_t offset, std::size_t bytes) {
    if (bytes == 0) return;
    const int failed =
        posix_fallocate(file_, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    if (failed == 0) return;
    struct statvfs status = {};
    fstatvfs(file_, &status);
    throw Error(failed == ENOSPC ? ExitCode::usage : ExitCode::fault,
                fmt::format("{:.1f} MiB of shared memory for a rank: {}; /dev/shm has {:.1f} MiB "
                            "free of {:.1f}: give it more (mount -o remount,size=…, docker run "
                            "--shm-size=…), or use fewer ranks a node",
                            mebibytes(bytes), std::strerror(failed),
                            mebibytes(status.f_bavail * status.f_frsize),
                            mebibytes(status.f_blocks * status.f_frsize)));
}

void SharedMemory::unlink() {
    if (linked_) shm_unlink(name_.c_str());
    linked_ = false;
}

SharedParts::SharedParts(Cluster& cluster, NodeTeam& team, std::size_t bytes) {
    const bool leads = cluster.place().rank_on_node == 0;
    const auto me = static_cast<std::size_t>(cluster.place().rank_on_node);
    const std::string name = name_of(team.exchange(random_token())[0]);
    std::vector<std::size_t> starts;
    std::size_t total = 0;
    const auto sizes = team.exchange(bytes);
    for (const std::size_t size : sizes) {
        starts.push_back(total);
        total += whole_pages(size);
    }
    const auto map = [&] { memory_ = std::make_unique<SharedMemory>(name, total, leads); };
    collectively(cluster, [&] {
        if (leads) map();
    });
    collectively(cluster, [&] {
        if (!leads) map();
        memory_->reserve(starts[me], whole_pages(bytes));
    });
    memory_->unlink();
    for (std::size_t i = 0; i < sizes.size(); ++i)
        parts_.push_back(memory_->bytes().subspan(starts[i], sizes[i]));
}

}  // namespace wasp
