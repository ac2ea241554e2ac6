/// The running statistics of batch normalisation are no weights: no protocol carries them from rank
/// to rank. What --bn-stats makes of each worker's own before they are used.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cluster/peer_board.hpp"
#include "data/dataset.hpp"
#include "run.hpp"

namespace wasp {

class NormStatistics {
public:
    /// Collective.
    explicit NormStatistics(Run& run);

    /// After each step of a worker: others may read mine.
    void publish(std::int64_t steps);

    void visit(State& state) {
        if (board_) board_->visit(state);
    }

    // By one rank, while others may train. The model's state becomes what evaluation uses now …
    void settle();
    /// … or what a copy, evaluated after training, is to hold …
    void settle_copy();
    /// … and what it was before, so that training goes on as if nothing had been.
    void restore();

    /// Collective, after training, on all ranks.
    void finish();

    // Where they are estimated anew (else nothing happens), after training:
    void estimate_own();     ///< for this worker's weights
    void estimate_shared();  ///< collective, for weights that all ranks hold

private:
    bool is(NormPolicy policy) const { return !state_.empty() && run_.config.norm == policy; }
    void estimate(std::size_t part, std::size_t parts);

    Run& run_;
    std::span<float> state_;
    std::optional<PeerBoard> board_;
    std::vector<float> before_, other_;
};

}  // namespace wasp
