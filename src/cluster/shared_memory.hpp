/// Memory that the processes of a node share: a mapping of a file in /dev/shm that nobody else can
/// see once all have it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"
#include "node_team.hpp"

namespace wasp {

class SharedMemory {
public:
    /// Map the file `name`, which one process creates and the others open.   name: "/…".
    /// Error: it can't be made or found.
    SharedMemory(const std::string& name, std::size_t bytes, bool create);
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    ~SharedMemory();

    std::span<std::byte> bytes() const { return {start_, size_}; }

    /// Take the memory of a part from the system now, near the core that runs this. Memory that is
    /// only promised ends the program with SIGBUS when it is touched.
    /// Error: there is not enough; gives the figures.
    void reserve(std::size_t offset, std::size_t bytes);

    /// The name can go when all have the mapping; the memory goes with the last of them.
    /// Whoever made it calls, or its destructor does.
    void unlink();

    /// A name that no other file has.
    static std::string unique_name();

private:
    std::string name_;
    std::byte* start_ = nullptr;
    std::size_t size_;
    int file_ = -1;
    bool linked_ = false;  // by this process
};

/// A part for each member of a team in one shared mapping; each is zero, and starts on a page.
class SharedParts {
public:
    /// Collective among the team, which is all of `cluster`'s ranks on this node.
    /// bytes: of my part.   Error: as SharedMemory, on every rank of the cluster.
    SharedParts(Cluster& cluster, NodeTeam& team, std::size_t bytes);

    std::span<std::byte> part(int member) const {
        return parts_.at(static_cast<std::size_t>(member));
    }

private:
    std::unique_ptr<SharedMemory> memory_;
    std::vector<std::span<std::byte>> parts_;
};

}  // namespace wasp
