#include "cluster/clocks.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace wasp {

namespace {

// Added to the clock of a worker that retires: later than any that still works.
constexpr std::int64_t never = std::int64_t{1} << 62U;
constexpr int keeper = 0;  // has the clocks of all: one read shows them

}  // namespace

Clocks::Clocks(Cluster& cluster, int first)
    : cluster_(cluster),
      first_(first),
      counters_(cluster.make_counters(static_cast<std::size_t>(cluster.size()))),
      seen_(static_cast<std::size_t>(cluster.size() - first)) {
    ENSURE(first >= 0 && first < cluster.size(), "clocks of workers {} to {}", first,
           cluster.size() - 1);
}

std::span<const std::int64_t> Clocks::look() {
    counters_->read(keeper, static_cast<std::size_t>(first_), seen_);
    return seen_;
}

void Clocks::tick() {
    counters_->fetch_add(keeper, static_cast<std::size_t>(cluster_.rank()), 1);
    ++mine_;
}

std::int64_t Clocks::slowest() {
    return std::ranges::min(look());
}

void Clocks::wait_for_slowest(std::int64_t at_least, const Progress& progress) {
    if (std::ranges::min(seen_) >= at_least) return;
    wait_until(
        cluster_, [&] { return slowest() >= at_least; },
        [&] { return behind(at_least) + fmt::format(" to reach clock {}", at_least); }, progress);
}

std::string Clocks::behind(std::int64_t at_least) {
    std::string who;
    for (std::size_t i = 0; i < seen_.size(); ++i)
        if (seen_[i] < at_least)
            who += fmt::format("{}rank {} (at {})", who.empty() ? "" : ", ",
                               first_ + static_cast<int>(i), seen_[i]);
    return who;
}

void Clocks::retire() {
    if (!retired(cluster_.rank()))
        counters_->fetch_add(keeper, static_cast<std::size_t>(cluster_.rank()), never);
}

bool Clocks::retired(int rank) {
    return counters_->read(keeper, static_cast<std::size_t>(rank)) >= never;
}

void Clocks::wait_for_all_retired(const Progress& progress) {
    wait_until(
        cluster_, [&] { return slowest() >= never; }, [&] { return behind(never) + " to finish"; },
        progress);
}

}  // namespace wasp
