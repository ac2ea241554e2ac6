#include "node_window.hpp"

#include <unistd.h>

#include "base/error.hpp"

namespace wasp {

NodeWindow::NodeWindow(Cluster& cluster, std::vector<BlockMemory> parts,
                       std::shared_ptr<void> memory)
    : cluster_(cluster),
      me_{cluster.rank(), getpid()},
      parts_(std::move(parts)),
      memory_(std::move(memory)) {}

void NodeWindow::get(int rank, std::size_t offset, std::span<float> out) {
    part(rank).get(cluster_, me_, offset, out);
}

void NodeWindow::put(int rank, std::size_t offset, std::span<const float> in) {
    part(rank).put(cluster_, me_, offset, in);
}

void NodeWindow::add(int rank, std::size_t offset, float scale, std::span<const float> in) {
    part(rank).add(cluster_, me_, offset, scale, in);
}

NodeCounters::NodeCounters(std::vector<std::span<Counter>> parts, std::shared_ptr<void> memory)
    : parts_(std::move(parts)), memory_(std::move(memory)) {}

Counter& NodeCounters::at(int rank, std::size_t index) {
    const auto part = parts_.at(static_cast<std::size_t>(rank));
    ENSURE(index < part.size(), "counter {} of {} on rank {}", index, part.size(), rank);
    return part[index];
}

std::int64_t NodeCounters::read(int rank, std::size_t index) {
    return at(rank, index).value.load();
}

void NodeCounters::read(int rank, std::size_t first, std::span<std::int64_t> out) {
    for (auto& value : out) value = read(rank, first++);
}

std::int64_t NodeCounters::fetch_add(int rank, std::size_t index, std::int64_t delta) {
    return at(rank, index).value.fetch_add(delta);
}

}  // namespace wasp
