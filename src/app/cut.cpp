#include "cut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace wasp {

Cut::Cut(Cluster& cluster, int first_worker)
    : cluster_(cluster), first_worker_(first_worker), words_(cluster.make_counters(words)) {}

void Cut::set_mine(Word word, std::int64_t value) {
    words_->fetch_add(cluster_.rank(), word, value - mine(word));
}

void Cut::add_everywhere(Word word) {
    for (int rank = 0; rank < cluster_.size(); ++rank) words_->fetch_add(rank, word, 1);
}

void Cut::want(bool stop) {
    if (stop) add_everywhere(ends);
    add_everywhere(wants);
}

void Cut::finished() {
    add_everywhere(finishes);
}

std::vector<std::int64_t> Cut::of_workers(Word word) {
    std::vector<std::int64_t> values;
    for (int rank = first_worker_; rank < cluster_.size(); ++rank)
        values.push_back(words_->read(rank, word));
    return values;
}

/// Differs from that of the same step at another cut.
std::int64_t Cut::place_of(std::int64_t step) const {
    constexpr std::int64_t most_steps = std::int64_t{1} << 40U;
    return (passed_ + 1) * most_steps + step;
}

bool Cut::all_are_at(std::int64_t where) {
    return std::ranges::all_of(of_workers(place), [where](auto other) { return other == where; });
}

std::string Cut::missing(std::int64_t where) {
    std::string who;
    for (int rank = first_worker_; rank < cluster_.size(); ++rank)
        if (words_->read(rank, place) != where)
            who += fmt::format("{}rank {}", who.empty() ? "" : ", ", rank);
    return who + " to come to the checkpoint";
}

std::int64_t Cut::steps_begun() {
    const auto steps = of_workers(begun);
    return std::accumulate(steps.begin(), steps.end(), std::int64_t{0});
}

bool Cut::reached(std::int64_t step) {
    if (!wanted()) {
        // Who reads this before I see that a cut is wanted waits for me behind the step; who reads
        // it later sees it grow, and follows.
        set_mine(begun, step + 1);
        return false;
    }
    const std::int64_t here = place_of(step);
    bool go_on = false, given_up = false;
    wait_until(
        cluster_,
        [&] {
            given_up = !possible();
            go_on = std::ranges::max(of_workers(begun)) > step;
            if (given_up || go_on) return true;
            set_mine(place, here);
            return all_are_at(here);
        },
        [&] { return missing(here); }, [this] { return steps_begun(); });
    if (go_on && !given_up) return false;
    ++passed_;
    return !given_up;
}

bool Cut::serve() {
    std::int64_t where = 0;
    wait_until(
        cluster_,
        [&] {
            if (!possible()) return true;
            if (!wanted()) return false;
            where = words_->read(first_worker_, place);
            return where >= place_of(0) && all_are_at(where);
        },
        [&] { return missing(where); }, [this] { return steps_begun(); });
    if (!possible()) return false;
    ++passed_;
    return true;
}

}  // namespace wasp
