#include "cut.hpp"

#include <fmt/format.h>

#include <algorithm>

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

void Cut::retire() {
    set_mine(place, retired);
}

void Cut::end() {
    add_everywhere(ended);
}

/// Workers that have not retired. None of them comes back.
std::vector<int> Cut::who_train() {
    std::vector<int> ranks;
    for (int rank = first_worker_; rank < cluster_.size(); ++rank)
        if (words_->read(rank, place) < retired) ranks.push_back(rank);
    return ranks;
}

/// Differs from that of the same place at another cut.
std::int64_t Cut::mark_of(std::int64_t where) const {
    constexpr std::int64_t most_places = std::int64_t{1} << 40U;
    return (passed_ + 1) * most_places + where;
}

std::int64_t Cut::furthest_begun() {
    std::int64_t furthest = 0;
    for (const int rank : who_train()) furthest = std::max(furthest, words_->read(rank, begun));
    return furthest;
}

bool Cut::all_are_at(std::int64_t mark) {
    const auto ranks = who_train();
    return !ranks.empty() &&
           std::ranges::all_of(ranks, [&](int rank) { return words_->read(rank, place) == mark; });
}

std::string Cut::missing(std::int64_t mark) {
    std::string who;
    for (const int rank : who_train())
        if (words_->read(rank, place) != mark)
            who += fmt::format("{}rank {}", who.empty() ? "" : ", ", rank);
    return who + " to come to the checkpoint";
}

std::int64_t Cut::steps_begun() {
    std::int64_t steps = 0;
    for (int rank = first_worker_; rank < cluster_.size(); ++rank)
        steps += words_->read(rank, calls);
    return steps;
}

bool Cut::reached(std::int64_t where) {
    words_->fetch_add(cluster_.rank(), calls, 1);
    if (!wanted()) {
        // Who reads this before I see that a cut is wanted waits for me behind the step; who reads
        // it later sees it grow, and follows.
        set_mine(begun, where + 1);
        return false;
    }
    const std::int64_t here = mark_of(where);
    bool go_on = false, given_up = false;
    wait_until(
        cluster_,
        [&] {
            given_up = !possible();
            go_on = furthest_begun() > where;
            if (given_up || go_on) return true;
            set_mine(place, here);
            return all_are_at(here);
        },
        [&] { return missing(here); }, [this] { return steps_begun(); });
    if (go_on && !given_up) return false;
    ++passed_;
    return !given_up;
}

bool Cut::attend(const std::function<void()>& meanwhile) {
    std::int64_t mark = 0;
    bool over = false;
    wait_until(
        cluster_,
        [&] {
            meanwhile();
            const auto ranks = who_train();
            over = !possible() || ranks.empty();
            if (over) return true;
            if (!wanted()) return false;
            mark = words_->read(ranks.front(), place);
            return mark >= mark_of(0) && all_are_at(mark);
        },
        [&] { return missing(mark); }, [this] { return steps_begun(); });
    if (over) return false;
    ++passed_;
    return true;
}

}  // namespace wasp
