// The actors and the clock are those of SimGrid's S4U. Its models of networks and computers are not
// used: a flow model takes too long beyond some hundred ranks
// (docs/decisions/0008-virtual-time.md).
#include "sim_world.hpp"

#include <fmt/ranges.h>

#include <cmath>
#include <simgrid/s4u.hpp>

#include "base/error.hpp"
#include "cluster/ending.hpp"
#include "sim_engine.hpp"

namespace wasp {

namespace {

namespace s4u = simgrid::s4u;

/// Moments are multiples of this: sums of them are exact, so that a run is the same to the bit
/// whenever it starts.
constexpr double tick = 1.0 / (1 << 30);  // s

double in_ticks(double seconds) {
    return std::ceil(seconds / tick) * tick;
}

}  // namespace

struct SimWorld::Actors {
    std::vector<s4u::ActorPtr> of;  // by rank
    double start = s4u::Engine::get_clock();
};

SimWorld::SimWorld(const SimOptions& options)
    : options_(options),
      costs_(options),
      threads_(options.threads),
      waits_(static_cast<std::size_t>(options.ranks)),
      letters_(waits_.size()),
      meetings_(waits_.size()) {
    static_cast<void>(sim_engine());
    actors_ = std::make_unique<Actors>();
}

SimWorld::~SimWorld() = default;

double SimWorld::now() const {
    return s4u::Engine::get_clock() - actors_->start;
}

void SimWorld::run(const std::function<void(int rank)>& work) {
    alive_ = size();
    for (int rank = 0; rank < size(); ++rank)
        actors_->of.push_back(
            s4u::Actor::create(fmt::format("rank {}", rank), sim_host(), [this, &work, rank] {
                try {
                    work(rank);
                } catch (...) {
                    fail(std::current_exception());
                }
                end();
            }));
    sim_engine().run();
    if (failure_) std::rethrow_exception(failure_);
}

void SimWorld::fail(std::exception_ptr failure) {
    if (failure_) return;
    failure_ = std::move(failure);
    for (int rank = 0; rank < size(); ++rank) wake(rank);
}

void SimWorld::end() {
    --alive_;
    if (alive_ == 0 || waiting_ < alive_) return;
    stuck_ = true;
    for (int other = 0; other < size(); ++other)
        if (is_waiting(other)) return wake(other);
}

void SimWorld::check_alive() const {
    if (failure_) throw OtherRankFailed();
}

void SimWorld::sleep_until(double seconds) {
    const double moment = in_ticks(seconds);
    if (moment > now()) s4u::this_actor::sleep_for(moment - now());
    check_alive();
}

void SimWorld::wait(int rank) {
    check_alive();
    if (all_others_wait()) {
        stuck_ = true;
        return;
    }
    waits_[static_cast<std::size_t>(rank)] = true;
    ++waiting_;
    s4u::this_actor::suspend();
    check_alive();
}

void SimWorld::wake(int rank) {
    if (!is_waiting(rank)) return;
    waits_[static_cast<std::size_t>(rank)] = false;
    --waiting_;
    actors_->of[static_cast<std::size_t>(rank)]->resume();
}

std::string SimWorld::missing() const {
    constexpr std::size_t most = 8;
    std::vector<int> who;
    for (int rank = 0; rank < size() && who.size() < most; ++rank)
        if (meetings_[static_cast<std::size_t>(rank)] == over_) who.push_back(rank);
    return fmt::format("rank{} {}", who.size() == 1 ? "" : "s", fmt::join(who, ", "));
}

void SimWorld::meet(int rank, void* letter, const std::function<double()>& work) {
    check_alive();
    const auto me = static_cast<std::size_t>(rank);
    letters_[me] = letter;
    const std::uint64_t meeting = ++meetings_[me];
    if (++here_ < size()) {
        while (over_ < meeting) {
            wait(rank);
            ENSURE(!stuck_ || over_ >= meeting,
                   "nobody can go on: rank {} waits for {} to come to a collective operation", rank,
                   missing());
        }
    } else {
        here_ = 0;
        parted_ = now() + work();
        over_ = meeting;
        for (int other = 0; other < size(); ++other) wake(other);
    }
    sleep_until(parted_);
}

}  // namespace wasp
