/// A moment at which all ranks of a run stand between two steps, so that what they and their
/// windows hold fits together. Whoever waits in a step for others still gets what it waits for:
/// nobody stops at a place that another worker has left for its next step. What a place is, the
/// protocol says (Protocol::place()): usually the number of the next step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"

namespace wasp {

class Cut {
public:
    /// Collective. Ranks below first_worker are servers.
    Cut(Cluster& cluster, int first_worker);

    /// Soon, please. By the first worker, when the last one is over.
    void want(bool stop);
    bool wanted() { return mine(wants) > passed_; }
    /// Whether all are to stop at the cut that was reached last.
    bool is_the_end();

    /// Before each step of a worker. True: all are at the cut.
    /// Error: a worker does not come to it (named).
    bool reached(std::int64_t where);

    /// On a server, and a worker that has retired, as long as others train. True: all are at the
    /// cut; call it again. False: nobody makes steps any more, or end() was called.
    /// meanwhile: called again and again.
    bool attend(const std::function<void()>& meanwhile);

    /// This worker makes no more steps, and goes on to attend().
    void retire();
    /// This worker does not come any more. From now on there is no cut.
    void end();
    bool possible() { return mine(ended) == 0; }

private:
    enum Word : std::size_t { wants, last, ended, begun, place, calls, words };
    static constexpr std::int64_t retired = std::int64_t{1} << 62U;  // a place
    static constexpr std::int64_t most_places = std::int64_t{1} << 34U;
    static constexpr std::int64_t marks_of_a_cut = most_places << 10U;

    std::int64_t mine(Word word) { return words_->read(cluster_.rank(), word); }
    void set_mine(Word word, std::int64_t value);
    void add_everywhere(Word word, std::int64_t value);
    std::vector<int> who_train();
    std::int64_t this_cut() const;
    std::int64_t mark_of(std::int64_t where, std::size_t trainers) const;
    std::int64_t furthest_begun(std::span<const int> ranks);
    bool all_are_at(std::int64_t mark, std::span<const int> ranks);
    std::string missing();
    std::int64_t steps_begun();

    Cluster& cluster_;
    int first_worker_;
    std::unique_ptr<Counters> words_;
    std::int64_t passed_ = 0;  // cuts
};

}  // namespace wasp
