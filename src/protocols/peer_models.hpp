/// What protocols have whose workers own their weights: everyone's board, how far everyone is, and
/// the end of training.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cluster/clocks.hpp"
#include "cluster/peer_board.hpp"

namespace wasp {

class PeerModels {
public:
    /// Collective. length: floats of a publication.
    PeerModels(Cluster& cluster, std::size_t length);

    void publish(std::int64_t step, float loss, std::span<const float> model);
    std::int64_t published() const { return published_; }  ///< by me

    /// Has `rank` made its publication `number`?
    bool has_published(int rank, std::int64_t number) {
        return board_.publications(rank) >= number;
    }
    bool retired(int rank) { return clocks_.retired(rank); }

    /// Returns when `rank` has made its publication `number`, or has finished.   Error: stalled.
    void wait_for(int rank, std::int64_t number);

    /// The last publication of `rank`; empty when there is none.   model: (length).
    std::optional<Publication> look(int rank, std::span<float> model) {
        return board_.look(rank, model);
    }
    /// Its publication `number`; empty when it isn't there yet or no longer.
    std::optional<Publication> look(int rank, std::int64_t number, std::span<float> model) {
        return board_.look(rank, number, model);
    }

    void visit(State& state) {
        board_.visit(state);
        clocks_.visit(state);
        state.value("published", published_);
    }

    /// Lets those who wait for me see that I go on, at next to no cost.
    void show_a_sign_of_life();

    /// Collective: I am done, and wait for all others.
    void finish();
    /// Nobody waits for a publication of mine any more; also part of finish().
    void retire() { clocks_.retire(); }

private:
    Cluster& cluster_;
    PeerBoard board_;
    Clocks clocks_;  // tick now and then, as a sign of life
    Progress progress_;
    std::int64_t published_ = 0;
    double last_sign_;
};

}  // namespace wasp
