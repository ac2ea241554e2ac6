#include "core_share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/error.hpp"
#include "bytes.hpp"
#include "topology.hpp"

namespace wasp {

namespace {

struct Cores {
    int node = 0, machine = 1;
    std::vector<unsigned> numbers;  // ascending; those this rank may use
};

Cores usable_cores() {
    const Topology topology = load_topology();
    hwloc_topology* const raw = topology.get();
    const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> allowed(
        hwloc_bitmap_alloc(), hwloc_bitmap_free);
    ENSURE(hwloc_get_cpubind(raw, allowed.get(), HWLOC_CPUBIND_THREAD) == 0,
           "hwloc: can't find out which cores this process may use");
    Cores cores;
    cores.machine = hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_CORE);
    for (hwloc_obj_t core = nullptr;
         (core = hwloc_get_next_obj_by_type(raw, HWLOC_OBJ_CORE, core)) != nullptr;)
        if (hwloc_bitmap_intersects(core->cpuset, allowed.get()) != 0)
            cores.numbers.push_back(core->logical_index);
    return cores;
}

bool overlap(const std::vector<unsigned>& a, const std::vector<unsigned>& b) {
    std::vector<unsigned> common;
    std::ranges::set_intersection(a, b, std::back_inserter(common));
    return !common.empty();
}

}  // namespace

int usable_core_count() {
    return std::max(1, static_cast<int>(usable_cores().numbers.size()));
}

CoreShare share_cores(Cluster& cluster) {
    constexpr int root = 0;
    Cores mine;
    collectively(cluster, [&] { mine = usable_cores(); });
    ByteWriter message;
    message.add(cluster.place().node);
    message.add(mine.numbers);
    std::vector<Cores> all;
    for (const auto& bytes : cluster.gather(message.bytes(), root)) {
        ByteReader reader(bytes);
        auto& cores = all.emplace_back();
        reader.read(cores.node);
        reader.read(cores.numbers);
    }
    std::map<int, std::set<unsigned>> of_node;
    for (const Cores& cores : all)
        of_node[cores.node].insert(cores.numbers.begin(), cores.numbers.end());
    std::vector<CoreShare> shares(static_cast<std::size_t>(cluster.size()));
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        const Cores& own = all[rank];
        shares[rank].cores = std::max(1, static_cast<int>(own.numbers.size()));
        shares[rank].together = std::max(1, static_cast<int>(of_node[own.node].size()));
        shares[rank].ranks = static_cast<int>(std::ranges::count_if(all, [&](const Cores& other) {
            return other.node == own.node && overlap(other.numbers, own.numbers);
        }));
    }
    cluster.broadcast(std::as_writable_bytes(std::span(shares)), root);
    auto& share = shares[static_cast<std::size_t>(cluster.rank())];
    share.machine = mine.machine;
    return share;
}

bool is_single_core(const CoreShare& share, int ranks_on_node) {
    return ranks_on_node > 1 && share.together == 1 && share.machine > 1;
}

std::string single_core(const CoreShare& share, int ranks_on_node, std::string_view host) {
    return fmt::format(
        "all {} ranks on {} are bound to one core of {}: bind each to its own (srun "
        "--cpu-bind=cores, mpiexec -bind-to core), or none",
        ranks_on_node, host, share.machine);
}

std::string crowding(const CoreShare& share, int ranks_on_node, int threads,
                     std::string_view host) {
    if (ranks_on_node * threads <= share.together) return {};
    return fmt::format("{} rank(s) with {} thread(s) each take turns on {} core(s) of {}",
                       ranks_on_node, threads, share.together, host);
}

}  // namespace wasp
