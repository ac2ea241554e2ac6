/// A moment at which all ranks of a run stand between two steps, so that what they and their
/// windows hold fits together. Whoever waits in a step for others still gets what it waits for:
/// nobody stops before the last step that any worker has begun.
#pragma once

#include <cstdint>
#include <memory>
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
    bool is_the_end() { return mine(ends) > 0; }

    /// Before each step of a worker. True: all are at the cut.
    /// Error: a worker does not come to it (named).
    bool reached(std::int64_t step);

    /// On a server, as long as workers train. True: all are at the cut; call it again. False: a
    /// worker has finished.
    bool serve();

    /// This worker makes no more steps. From now on there is no cut.
    void finished();
    bool possible() { return mine(finishes) == 0; }

private:
    enum Word : std::size_t { wants, ends, finishes, begun, place, words };

    std::int64_t mine(Word word) { return words_->read(cluster_.rank(), word); }
    void set_mine(Word word, std::int64_t value);
    void add_everywhere(Word word);
    std::int64_t place_of(std::int64_t step) const;
    std::vector<std::int64_t> of_workers(Word word);
    bool all_are_at(std::int64_t place);
    std::string missing(std::int64_t place);
    std::int64_t steps_begun();

    Cluster& cluster_;
    int first_worker_;
    std::unique_ptr<Counters> words_;
    std::int64_t passed_ = 0;  // cuts
};

}  // namespace wasp
