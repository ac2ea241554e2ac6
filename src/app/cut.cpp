#include "cut.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wasp {

Cut::Cut(Cluster& cluster, int first_worker)
    : cluster_(cluster), first_worker_(first_worker), words_(cluster.make_counters(words)) {}

void Cut::set_mine(Word word, std::int64_t value) {
    words_->fetch_add(cluster_.rank(), word, value - mine(word));
}

void Cut::add_everywhere(Word word, std::int64_t value) {
    for (int rank = 0; rank < cluster_.size(); ++rank) words_->fetch_add(rank, word, value);
}

void Cut::want(bool stop) {
    if (stop) add_everywhere(last, passed_ + 1);
    add_everywhere(wants, 1);
}

/// Others may still be about to leave a cut when the first worker wants the next one as the last.
bool Cut::is_the_end() {
    const std::int64_t number = mine(last);
    return number > 0 && passed_ >= number;
}

void Cut::retire() {
    set_mine(place, retired);
}

void Cut::end() {
    add_everywhere(ended, 1);
}

/// Workers that have not retired. None of them comes back.
std::vector<int> Cut::who_train() {
    std::vector<int> ranks;
    for (int rank = first_worker_; rank < cluster_.size(); ++rank)
        if (words_->read(rank, place) < retired) ranks.push_back(rank);
    return ranks;
}

/// Differs from that of the same place at another cut, and from what was written there before a
/// worker retired: who wrote that may have gone on since, to a step that only the other had begun.
std::int64_t Cut::mark_of(std::int64_t where, std::size_t trainers) const {
    constexpr std::int64_t most_trainers = 1 << 10;
    const auto retired_by_now = cluster_.size() - static_cast<std::int64_t>(trainers);
    return this_cut() + retired_by_now % most_trainers * most_places + where;
}

/// What marks of the next cut begin with.
std::int64_t Cut::this_cut() const {
    constexpr std::int64_t most_cuts = 1 << 17;  // then marks come again
    return (passed_ + 1) % most_cuts * marks_of_a_cut;
}

std::int64_t Cut::furthest_begun(std::span<const int> ranks) {
    std::int64_t furthest = 0;
    for (const int rank : ranks) furthest = std::max(furthest, words_->read(rank, begun));
    return furthest;
}

bool Cut::all_are_at(std::int64_t mark, std::span<const int> ranks) {
    return std::ranges::all_of(ranks, [&](int rank) { return words_->read(rank, place) == mark; });
}

std::string Cut::missing() {
    const auto ranks = who_train();
    std::string who;
    for (const int rank : ranks) {
        const auto mark = words_->read(rank, place);
        if (mark >= this_cut() && mark < this_cut() + marks_of_a_cut) continue;
        who += fmt::format("{}rank {}", who.empty() ? "" : ", ", rank);
    }
    return (who.empty() ? "the workers" : who) + " to come to the checkpoint";
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
    bool go_on = false, given_up = false;
    wait_until(
        cluster_,
        [&] {
            const auto ranks = who_train();
            given_up = !possible();
            go_on = furthest_begun(ranks) > where;
            if (given_up || go_on) return true;
            const std::int64_t here = mark_of(where, ranks.size());
            set_mine(place, here);
            return all_are_at(here, ranks);
        },
        [this] { return missing(); }, [this] { return steps_begun(); });
    if (go_on && !given_up) {
        set_mine(begun, where + 1);  // whoever made me go on may retire
        return false;
    }
    ++passed_;
    return !given_up;
}

bool Cut::attend(const std::function<void()>& meanwhile) {
    bool over = false;
    wait_until(
        cluster_,
        [&] {
            meanwhile();
            const auto ranks = who_train();
            over = !possible() || ranks.empty();
            if (over) return true;
            if (!wanted()) return false;
            const std::int64_t mark = words_->read(ranks.front(), place);
            const std::int64_t first = mark_of(0, ranks.size());
            return mark >= first && mark < first + most_places && all_are_at(mark, ranks);
        },
        [this] { return missing(); }, [this] { return steps_begun(); });
    if (over) return false;
    ++passed_;
    return true;
}

}  // namespace wasp
