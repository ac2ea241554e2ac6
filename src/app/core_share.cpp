#include "core_share.hpp"

#include <hwloc.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "bytes.hpp"

namespace wasp {

namespace {

struct Cores {
    int node = 0;
    std::vector<unsigned> numbers;  // ascending; those this rank may use
};

std::vector<unsigned> usable_cores() {
    hwloc_topology_t raw = nullptr;
    ENSURE(hwloc_topology_init(&raw) == 0, "hwloc: no topology");
    const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> topology(
        raw, hwloc_topology_destroy);
    const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> allowed(
        hwloc_bitmap_alloc(), hwloc_bitmap_free);
    ENSURE(hwloc_topology_load(raw) == 0 &&
               hwloc_get_cpubind(raw, allowed.get(), HWLOC_CPUBIND_THREAD) == 0,
           "hwloc: can't find out which cores this process may use");
    std::vector<unsigned> cores;
    for (hwloc_obj_t core = nullptr;
         (core = hwloc_get_next_obj_by_type(raw, HWLOC_OBJ_CORE, core)) != nullptr;)
        if (hwloc_bitmap_intersects(core->cpuset, allowed.get()) != 0)
            cores.push_back(core->logical_index);
    return cores;
}

bool overlap(const std::vector<unsigned>& a, const std::vector<unsigned>& b) {
    std::vector<unsigned> common;
    std::ranges::set_intersection(a, b, std::back_inserter(common));
    return !common.empty();
}

}  // namespace

int usable_core_count() {
    return std::max(1, static_cast<int>(usable_cores().size()));
}

CoreShare share_cores(Cluster& cluster) {
    constexpr int root = 0;
    std::vector<unsigned> mine;
    collectively(cluster, [&] { mine = usable_cores(); });
    ByteWriter message;
    message.add(cluster.place().node);
    message.add(mine);
    std::vector<Cores> all;
    for (const auto& bytes : cluster.gather(message.bytes(), root)) {
        ByteReader reader(bytes);
        auto& cores = all.emplace_back();
        reader.read(cores.node);
        reader.read(cores.numbers);
    }
    std::vector<CoreShare> shares(static_cast<std::size_t>(cluster.size()));
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        shares[rank].cores = std::max(1, static_cast<int>(all[rank].numbers.size()));
        shares[rank].ranks = static_cast<int>(std::ranges::count_if(all, [&](const Cores& other) {
            return other.node == all[rank].node && overlap(other.numbers, all[rank].numbers);
        }));
    }
    cluster.broadcast(std::as_writable_bytes(std::span(shares)), root);
    return shares[static_cast<std::size_t>(cluster.rank())];
}

}  // namespace wasp
