#include "peer_models.hpp"

#include <fmt/format.h>

namespace wasp {

PeerModels::PeerModels(Cluster& cluster, std::size_t length)
    : cluster_(cluster),
      board_(cluster, length),
      clocks_(cluster),
      progress_([this] { return clocks_.slowest(); }),
      last_sign_(cluster.seconds()) {}

void PeerModels::publish(std::int64_t step, float loss, std::span<const float> model) {
    board_.publish(step, loss, model);
    ++published_;
}

void PeerModels::wait_for(int rank, std::int64_t number) {
    wait_until(
        cluster_, [&] { return has_published(rank, number) || retired(rank); },
        [&] { return fmt::format("publication {} of rank {}", number, rank); }, progress_);
}

void PeerModels::show_a_sign_of_life() {
    constexpr double signs_per_stall = 10;
    const double now = cluster_.seconds();
    if (now - last_sign_ < cluster_.stall_seconds() / signs_per_stall) return;
    clocks_.tick();
    last_sign_ = now;
}

void PeerModels::finish() {
    retire();
    clocks_.wait_for_all_retired(progress_);
}

}  // namespace wasp
