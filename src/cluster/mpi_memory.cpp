#include "mpi_memory.hpp"

#include <algorithm>
#include <cstring>

#include "base/aligned.hpp"
#include "mpi_cluster.hpp"

namespace wasp {

namespace {

constexpr std::size_t least_bytes = std::size_t{1} << 20U;  // of a rank's part

}  // namespace

MpiArena::MpiArena(MpiCluster& cluster, std::size_t bytes)
    : parts_(cluster, cluster.team(), bytes),
      mine_(parts_.part(cluster.place().rank_on_node)),
      window_(cluster, mine_) {}

std::size_t MpiArena::take(std::size_t bytes) {
    const std::size_t start = used_;
    used_ += bytes;
    ++pieces_;
    if (start < ever_used_)
        std::memset(mine_.data() + start, 0, std::min(used_, ever_used_) - start);
    ever_used_ = std::max(ever_used_, used_);
    return start;
}

void MpiArena::give_back() {
    if (--pieces_ == 0) used_ = 0;
}

std::shared_ptr<MpiPiece> MpiMemory::take(std::size_t bytes) {
    const std::size_t needed = whole_lines(bytes);
    const bool fits = !arenas_.empty() && needed <= arenas_.back()->room();
    if (std::ranges::min(cluster_.exchange(fits ? 1 : 0)) == 0) {
        std::size_t size = std::max(needed, least_bytes);
        if (!arenas_.empty()) size = std::max(size, arenas_.back()->size());
        std::erase_if(arenas_, [](const auto& arena) { return arena->unused(); });
        arenas_.push_back(std::make_shared<MpiArena>(cluster_, size));
    }
    const auto& arena = arenas_.back();
    return std::make_shared<MpiPiece>(arena, cluster_.exchange(arena->take(needed)));
}

}  // namespace wasp
