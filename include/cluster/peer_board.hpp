/// What each rank last published to the others: a model, its step and its loss. NoSync looks at
/// these. A look never returns a mixture of two publications: a board has several slots, each with
/// a sequence number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/state.hpp"
#include "cluster/cluster.hpp"

namespace wasp {

struct Publication {
    std::int64_t number = 0;  ///< 1 for the first of its rank
    std::int64_t step = 0;
    float loss = 0;
};

class PeerBoard {
public:
    /// Collective. length: floats in a model, the same on every rank.
    PeerBoard(Cluster& cluster, std::size_t length);

    void publish(std::int64_t step, float loss, std::span<const float> model);

    /// How many publications `rank` has made.
    std::int64_t publications(int rank);

    /// The newest publication of `rank`; empty when there is none yet.   model: (length).
    std::optional<Publication> look(int rank, std::span<float> model);

    /// Its publication `number`; empty when that one is not there yet or no longer.
    std::optional<Publication> look(int rank, std::int64_t number, std::span<float> model);

    void visit(State& state) { state.value("publications", published_); }

private:
    static constexpr std::size_t slots = 3;

    Cluster& cluster_;
    std::size_t length_;
    std::int64_t published_ = 0;
    std::unique_ptr<Window> window_;     // slots × (header, model)
    std::unique_ptr<Counters> numbers_;  // per slot, and the newest
};

}  // namespace wasp
