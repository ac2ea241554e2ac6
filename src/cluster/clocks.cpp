#include "cluster/clocks.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace wasp {

namespace {

// Added to the clock of a worker that retires: later than any that still works.
constexpr std::int64_t never = std::int64_t{1} << 62U;

}  // namespace

Clocks::Clocks(Cluster& cluster, int first)
    : cluster_(cluster),
      first_(first),
      keeper_((first > 0 ? first : cluster.size()) - 1),
      counters_(cluster.make_counters(static_cast<std::size_t>(cluster.size()))),
      seen_(static_cast<std::size_t>(cluster.size() - first)) {
    ENSURE(first >= 0 && first < cluster.size(), "clocks of workers {} to {}", first,
           cluster.size() - 1);
}

std::span<const std::int64_t> Clocks::look() {
    counters_->read(keeper_, static_cast<std::size_t>(first_), seen_);
    return seen_;
}

void Clocks::tick() {
    counters_->fetch_add(keeper_, static_cast<std::size_t>(cluster_.rank()), 1);
    ++mine_;
}

std::int64_t Clocks::slowest() {
    return std::ranges::min(look());
}

/// One of those behind is waited for at a time, and all are looked at again when it has come:
/// whoever waits need not wake at every tick of everybody. Ranks begin with different ones, in no
/// order that ticks could follow.
bool Clocks::have_all_reached(std::int64_t at_least) {
    constexpr std::size_t far_apart = 2'654'435'761;  // Source: Knuth, multiplicative hashing
    for (;;) {
        const std::size_t n = seen_.size();
        const std::size_t first = (static_cast<std::size_t>(cluster_.rank()) * far_apart) % n;
        std::size_t i = 0;
        while (i < n && seen_[(first + i) % n] >= at_least) ++i;
        if (i == n) return true;
        const std::size_t awaited = (first + i) % n;
        seen_[awaited] = counters_->read(keeper_, static_cast<std::size_t>(first_) + awaited);
        if (seen_[awaited] < at_least) return false;
        look();
    }
}

void Clocks::wait_for_slowest(std::int64_t at_least, const Progress& progress) {
    wait_until(
        cluster_, [&] { return have_all_reached(at_least); },
        [&] {
            look();
            return behind(at_least) + fmt::format(" to reach clock {}", at_least);
        },
        progress);
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
        counters_->fetch_add(keeper_, static_cast<std::size_t>(cluster_.rank()), never);
}

bool Clocks::retired(int rank) {
    return counters_->read(keeper_, static_cast<std::size_t>(rank)) >= never;
}

void Clocks::wait_for_all_retired(const Progress& progress) {
    wait_until(
        cluster_, [&] { return have_all_reached(never); },
        [&] {
            look();
            return behind(never) + " to finish";
        },
        progress);
}

}  // namespace wasp
