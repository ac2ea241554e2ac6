/// How the ranks of a run agree to stop or to pause without meeting: each looks at words of its
/// own before every step, and whoever has a reason writes them at all ranks.
#pragma once

#include <cstdint>
#include <memory>

#include "base/state.hpp"
#include "cluster/cluster.hpp"

namespace wasp {

class RunControl {
public:
    /// Collective. workers: how many will call done().
    RunControl(Cluster& cluster, int workers);

    void stop_all();
    bool stopping() { return mine(stop) > 0; }

    /// To rank `rank`: there is a reason to stop at a cut.
    void tell(int rank) { words_->fetch_add(rank, reasons, 1); }
    bool told() { return mine(reasons) > 0; }

    /// Everyone pauses before the next step. resume_all() takes `seconds`, how long it was, off
    /// everyone's training time.
    void pause_all();
    void resume_all(double seconds);
    void wait_while_paused();
    /// The same for this rank alone, which others do not wait for.
    void add_pause(double seconds);
    double paused_seconds() { return static_cast<double>(mine(paused_ns)) * 1e-9; }

    /// Samples and pauses so far.
    void visit(State& state);

    void add_samples(std::int64_t samples);
    std::int64_t samples_of_all();

    /// This worker has made its last step.
    void done();
    /// Returns when every worker is done, however long that takes while some of them make steps.
    /// Error: none has made one for stall_seconds().
    void wait_until_all_done();

private:
    enum Word : std::size_t {
        stop,
        pauses,
        paused_ns,
        samples,
        reasons,
        finished,
        all_finished,  ///< so that nobody need look at each that finishes
        words
    };
    static constexpr int keeper = 0;  ///< its last two words are those of all

    std::int64_t mine(Word word) { return words_->read(cluster_.rank(), word); }
    void add_everywhere(Word word, std::int64_t delta);

    Cluster& cluster_;
    int workers_;
    std::unique_ptr<Counters> words_;
};

}  // namespace wasp
